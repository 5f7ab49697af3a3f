// Loads the service, or a program of the terminal. A file of its own, because an old Node does not know import().
'use strict'

var modules = require('module')
var path = require('path')

var compiled = path.join(__dirname, '..', 'node_modules', '.cache', 'compiled')

// Node compiles a thousand files at a start, and no callback is answered meanwhile. So what it has compiled is kept for the next start.
// If the folder cannot be written, nothing is kept. If the environment names another folder, Node uses that one.
function keepCompiled() {
  var kept = modules.enableCompileCache(compiled)
  // The threads of the service and its cells find the folder in the environment.
  if (kept.status === modules.constants.compileCacheStatus.ENABLED) process.env.NODE_COMPILE_CACHE = compiled
}

module.exports = function load(file) {
  keepCompiled()
  return import('../' + file)
}
