"""The name under which Keras saves and finds the project's layers and models."""

import tf_keras

serializable = tf_keras.saving.register_keras_serializable("conversational_embeddings")
"""Class decorator: `.keras` files name the class as `conversational_embeddings>Class`."""
