"""The regressors of Prijatelj et al. 2017, "Neural Networks for Semantic Textual Similarity".

Two sentences in, a similarity score in [0, 5] out: word vectors, sentence embedding, comparator.
"""
