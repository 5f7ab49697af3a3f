// Starts the service, or says in one sentence why this machine cannot run it. Any Node can read this file: it is ES5.
// With the name of a program of the terminal, such as `link shop`, it starts that program instead.
'use strict'

var fs = require('fs')
var path = require('path')

var root = path.join(__dirname, '..')
var project = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))
var needed = project.engines.node.replace('>=', '')
// The process that ran this launcher before and handed over to this one: itself after execve, else the parent.
var launcher = Number(process.env.CAUSEWAY_LAUNCHER || 0)
var hasLauncherAsParent = launcher > 0 && launcher !== process.pid
// Read first: a parent that ends while the service loads is noticed, too.
var parent = hasLauncherAsParent ? launcher : process.ppid
var checkEveryMs = 1000
var programs = ['link', 'doctor', 'adopt', 'backup', 'restore']
// Programs that are not in the folder cli.
var files = { demo: 'demo/run.ts' }

function giveUp(sentence) {
  console.error(sentence)
  process.exit(1)
}

function isAtLeast(version, least) {
  var have = version.split('.')
  var want = least.split('.')
  for (var i = 0; i < want.length; i++) {
    if (Number(have[i]) !== Number(want[i])) return Number(have[i]) > Number(want[i])
  }
  return true
}

// The package with a Node of its own that npm ci installs on this system, if there is one.
function ownNodePackage() {
  var system = process.platform === 'win32' ? 'win' : process.platform
  var name = 'node-' + system + '-' + process.arch
  return Object.prototype.hasOwnProperty.call(project.optionalDependencies, name) ? name : undefined
}

function useAnotherNode() {
  var name = ownNodePackage()
  var file = process.platform === 'win32' ? 'node.exe' : 'node'
  var binary = name && path.join(root, 'node_modules', name, 'bin', file)
  if (binary && fs.existsSync(binary) && launcher === 0) {
    refuseUnusable(binary)
    return handOver(binary)
  }
  var here = 'this is Node ' + process.version.replace('v', '') + ' and the service needs ' + needed + ' or newer: '
  if (binary && !fs.existsSync(binary)) giveUp(here + 'run npm ci, which installs that Node for this project')
  giveUp(here + 'install Node 24 from https://nodejs.org, or with nvm install 24, and run npm ci again')
}

// A system with another C library, such as Alpine Linux, cannot run it. Node aborts with a stack when execve fails.
function refuseUnusable(binary) {
  var tried = require('child_process').spawnSync(binary, ['--version'])
  if (tried.status === 0) return
  var reason = tried.error ? tried.error.code : tried.signal || 'exit code ' + tried.status
  giveUp(binary + ' does not run here (' + reason + '): install Node ' + needed + ' or newer and delete that file')
}

// Runs this file again, in the same process where the system can do that.
function handOver(binary) {
  var env = Object.assign({}, process.env, { CAUSEWAY_LAUNCHER: String(process.pid) })
  var args = [__filename].concat(process.argv.slice(2))
  if (process.execve && process.platform !== 'win32') process.execve(binary, [binary].concat(args), env)
  else startSecondProcess(binary, args, env)
}

// Passes signals on. When this process ends, the other one notices it and stops in order.
function startSecondProcess(binary, args, env) {
  var child = require('child_process').spawn(binary, args, { stdio: 'inherit', env: env })
  ;['SIGTERM', 'SIGINT'].forEach(function (signal) {
    process.on(signal, function () {
      // Windows sends Ctrl+C to both processes. A kill would end the other one before it has stopped in order.
      if (process.platform !== 'win32') child.kill(signal)
    })
  })
  child.on('exit', function (code) {
    process.exit(code === null ? 1 : code)
  })
  if (isStartedByNpm()) stopWithParent()
}

function refuseMissingPackages() {
  var missing = Object.keys(project.dependencies).filter(function (name) {
    return !fs.existsSync(path.join(root, 'node_modules', name, 'package.json'))
  })
  if (missing.length > 0) giveUp('packages are missing (' + missing.join(', ') + '): run npm ci in ' + root)
}

// Variables of the environment come before those of the file. Returns the names that the file added.
function readEnvFile() {
  var before = Object.keys(process.env)
  try {
    process.loadEnvFile('.env')
  } catch (error) {
    if (error.code !== 'ENOENT')
      giveUp(path.resolve('.env') + ' cannot be read (' + error.code + '): correct or remove it')
  }
  return Object.keys(process.env).filter(function (name) {
    return before.indexOf(name) < 0
  })
}

// Node reads NODE_OPTIONS, NODE_EXTRA_CA_CERTS and the like only when a process begins.
function isForNode(name) {
  return name.indexOf('NODE_') === 0 && name !== 'NODE_ENV'
}

function isStartedByNpm() {
  var file = process.env.npm_package_json
  if (process.env.npm_lifecycle_event !== 'start' || !file || !fs.existsSync(file)) return false
  return fs.realpathSync(file) === fs.realpathSync(path.join(root, 'package.json'))
}

function isParentGone() {
  if (process.platform !== 'win32') return process.ppid !== parent
  // Windows never changes the number of the parent.
  try {
    process.kill(parent, 0)
    return false
  } catch (error) {
    return error.code === 'ESRCH'
  }
}

// A supervisor that kills npm means the service: an orphan would keep port, lease and accounts.
function stopWithParent() {
  var watch = setInterval(function () {
    if (!isParentGone()) return
    clearInterval(watch)
    console.error('the process that started the service has ended, so the service stops')
    // Not a signal: a stop that a signal has begun goes on. Without a listener, the service is not loaded yet.
    if (!process.emit('parentEnded')) process.exit(1)
  }, checkEveryMs)
  watch.unref()
}

// The file to run. A program of the terminal sees its own arguments only.
function takeFile() {
  var name = process.argv[2]
  if (name === undefined) return 'src/main.ts'
  var others = Object.keys(files)
  if (programs.concat(others).indexOf(name) < 0)
    giveUp('there is no program ' + JSON.stringify(name) + ': the programs are ' + programs.concat(others).join(', '))
  var file = others.indexOf(name) < 0 ? 'cli/' + name + '.ts' : files[name]
  process.argv.splice(1, 2, path.join(root, file))
  return file
}

// Linux drops a signal for process 1 of a container that no listener waits for, and a program loads for a second or more.
function endAtSignals() {
  ;['SIGTERM', 'SIGINT'].forEach(function (name) {
    process.on(name, function (signal, number) {
      // A program that listens itself stops in order.
      if (process.listenerCount(signal) === 1) process.exit(128 + number)
    })
  })
}

function start() {
  if (!isAtLeast(process.version.replace('v', ''), needed)) return useAnotherNode()
  refuseMissingPackages()
  if (readEnvFile().some(isForNode)) return handOver(process.execPath)
  if (hasLauncherAsParent || isStartedByNpm()) stopWithParent()
  if (process.pid === 1) endAtSignals()
  require('./load-program.cjs')(takeFile())
}

start()
