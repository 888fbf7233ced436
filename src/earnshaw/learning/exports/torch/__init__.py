"""PyTorch modules of networks and activations; `earnshaw.torch` offers them, and needs torch."""
