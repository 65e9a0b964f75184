"""Sentence embeddings from conversations, without TensorFlow.

>>> import conversational_embeddings
>>> module = conversational_embeddings.load("pretrained/conversations-small")
>>> age, years, name = module.encode(
...     ["How old are you?", "What is your age?", "What is your name?"]
... )
>>> print(f"{age @ years:.2f} {age @ name:.2f}")
0.66 0.35
"""

from conversational_embeddings._module import Module, load

__all__ = ["Module", "load"]
__version__ = "0.1.0"
