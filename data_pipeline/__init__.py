"""Reddit dumps in, TFRecord input-response pairs out: an Apache Beam job.

python -m data_pipeline reddit --input 'dumps/RC_*.zst' --output pairs/
"""
