"""A checkpoint in, a TF-Hub style SavedModel out: text in, embedding out.

python -m export --model_dir run/ --output module/
"""
