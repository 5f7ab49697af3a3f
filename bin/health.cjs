// Asks the service of this container for its health. The exit code is 0 if it answers 200. Docker runs it (HEALTHCHECK).
'use strict'

var http = require('http')

var deadlineMs = 5000
var port = process.env.PORT || '3100'
var url = 'http://127.0.0.1:' + port + '/api/health'

function fail(reason) {
  console.error(url + ' ' + reason)
  process.exit(1)
}

// A deadline for all of it: the timeout of the request counts anew with every byte.
setTimeout(function () {
  fail('does not answer within ' + deadlineMs + ' ms')
}, deadlineMs)

http
  .get(url, function (response) {
    if (response.statusCode !== 200) fail('answers ' + response.statusCode)
    process.exit(0)
  })
  .on('error', function (error) {
    fail('cannot be asked (' + error.code + ')')
  })
