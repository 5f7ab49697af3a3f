// Loads the service, or a program of the terminal. A file of its own, because an old Node does not know import().
'use strict'

module.exports = function load(file) {
  return import('../' + file)
}
