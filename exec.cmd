@rem The exec of the scripts in package.json, for cmd.exe: npm runs scripts with it on Windows, and it has none.
@%*
