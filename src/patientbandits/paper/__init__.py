"""The paper's experiments, run again, and its claims, checked.

Each experiment is one file that holds all there is to say about it: problem, curves, claims, panels
and text. `experiments` lists these files in the order of the report, and `reproduce` carries them
out. A new experiment is a file with a class derived from `experiment.PaperExperiment`, and its line
in `experiments`.
"""
