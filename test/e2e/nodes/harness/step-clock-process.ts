// Loaded before the service. The wall clock of the process can be stepped: with SIGUSR2 it reads the offset in milliseconds from the
// file that CLOCK_FILE names. Timers and the monotonic clock go on as they are, as on a machine whose clock is set.

import { readFileSync } from 'node:fs'

const file = process.env['CLOCK_FILE'] ?? ''
const realNow = Date.now.bind(Date)
let offsetMs = 0

Date.now = () => realNow() + offsetMs
process.on('SIGUSR2', () => {
  offsetMs = Number(readFileSync(file, 'utf8'))
})
