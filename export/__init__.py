"""A checkpoint in, a TF-Hub style SavedModel out: text in, embedding out.

python -m export --model_dir run/ --output module/
"""

FLOAT32, INT8 = "float32", "int8"
VARIANTS = (FLOAT32, "bfloat16", "float16", INT8)
"""How weights may be kept, see `export.module.weights`."""
