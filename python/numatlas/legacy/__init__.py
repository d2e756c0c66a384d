"""Scripts of earlier tools, under the names and with the options that their users know."""
