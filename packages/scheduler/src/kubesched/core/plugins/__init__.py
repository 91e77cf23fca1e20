"""The in-tree plugins, each under its upstream name.

From pods and node columns to verdicts and scores. Plugins do not import each other, do no I/O, and change the table
only through the cluster. One module per plugin, or a folder if it is large. The folder `messages` has a table
for each plugin: the sentences that it writes into the messages of pods, with their cause and advice.
"""
