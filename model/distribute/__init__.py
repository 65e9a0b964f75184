"""`TF_CONFIG` in, the role of this process out; and a cluster on one machine."""
