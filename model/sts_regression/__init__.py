"""The regressors of Prijatelj et al. 2017, "Neural Networks for Semantic Textual Similarity".

Word vectors -> sentence embedding -> comparator -> a score in [0, 5].
"""
