"""Dual encoders of comment and reply, trained on TFRecord pairs with `tf.distribute`.

python -m model --experiment reddit --mode train_and_eval --model_dir run/ \
        --config_file model/configs/presets/laptop_dan.yaml \
        --params_override "task.train_data.input_path=pairs/train-*,..."
"""
