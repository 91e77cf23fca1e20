"""In: plugin classes and compiled configuration. Out: the contract by which plugins are asked and answer.
Never: a scheduling decision, I/O, or knowledge of a particular plugin.
`plugin` is what authors read first; `questions` is how the evaluator keeps answers true.
"""
