# All of it is for the core alone; nothing can be used from Python.
