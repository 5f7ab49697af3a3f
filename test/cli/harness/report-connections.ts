// Loaded into a process before its program, by NODE_OPTIONS: writes down every host that the process connects to or looks up.

import dgram from 'node:dgram'
import dns from 'node:dns'
import { appendFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'

const file = new URL(import.meta.url).searchParams.get('file') ?? ''

function report(host: unknown): void {
  appendFileSync(file, `${process.pid} ${String(host)}\n`)
}

type Method = (this: unknown, ...args: unknown[]) => unknown

/** Reports what `hostOf` finds in the arguments, and then calls the method as before. */
function watch(owner: object, name: string, hostOf: (args: readonly unknown[]) => unknown): void {
  const original = Reflect.get(owner, name) as Method
  const watched: Method = function (...args) {
    report(hostOf(args))
    return original.apply(this, args)
  }
  Reflect.set(owner, name, watched)
}

type Target = { host?: string; path?: string }

watch(net.Socket.prototype, 'connect', ([first, second]) => {
  // Node itself passes its arguments as one list.
  const target = (Array.isArray(first) ? first[0] : first) as Target | number
  if (typeof target === 'number') return typeof second === 'string' ? second : 'localhost'
  return target.path ?? target.host ?? 'localhost'
})
for (const name of ['lookup', 'resolve', 'resolve4', 'resolve6', 'resolveSrv', 'resolveTxt']) {
  for (const owner of [dns, dns.promises]) watch(owner, name, ([host]) => host)
}
watch(dgram.Socket.prototype, 'send', (args) => args.find((each) => typeof each === 'string'))
syncBuiltinESMExports()
