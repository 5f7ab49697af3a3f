// Plays the whole demo without a browser, and proves after each step that nothing is lost or doubled.

import type { Show } from './show.ts'
import { instance } from './stage.ts'
import type { Passage } from './view.ts'

/** Only a hang takes longer, even on a machine whose cores are busy with other work. */
const patienceMs = 60_000
const lookAgainMs = 10

/** An account of a node that ends is at another node within this time. */
const promisedMs = 6000

type Step = [name: string, run: (show: Show) => Promise<unknown>]

const steps: readonly Step[] = [
  ['the phone scans the QR code, and the account is ready', (show) => scan(show)],
  ['a customer writes, and the helpdesk shows it', (show) => arrives(show.customer.write('Is my bike ready?'))],
  ['the agent looks and answers, and the customer reads it', (show) => lookAndAnswer(show, 'Yes, come and get it!')],
  ['the customer sees blue ticks', (show) => bluePhoneTicks(show)],
  ['the helpdesk shows that the answer was read', (show) => answerIsRead(show)],
  ['a photo', (show) => arrives(show.customer.sendPhoto('Like this one'))],
  ['a voice note', (show) => arrives(show.customer.sendVoiceNote())],
  ['a reaction', (show) => arrives(show.customer.react('❤️'))],
  ['a quote', (show) => arrives(show.customer.quote('Great, thank you!'))],
  ['a group', (show) => arrives(show.customer.writeInGroup('Sunday ride', 'Who is in?'))],
  ['a call', (show) => call(show)],
  ['an edit', (show) => arrives(show.customer.edit('Great, thanks!'))],
  ['a deletion', (show) => arrives(show.customer.delete())],
  ['a photo of the agent', (show) => answerWithPhoto(show)],
  ['a deletion by the agent', (show) => deleteAnswer(show)],
  ['everything comes twice, and is passed on once', (show) => twice(show)],
  ['WhatsApp is cut: the answer waits, and arrives', (show) => cutNetwork(show)],
  ['the helpdesk is stopped: the message waits, and arrives', (show) => stopHelpdesk(show)],
  ['kill -9 in the middle: everything arrives once', (show) => kill(show)],
]

const nodeSteps: readonly Step[] = [
  ['kill -9 of a node: another node has its accounts', (show) => killNode(show)],
  ['the agent answers through the node that is left', (show) => answer(show, 'From another node')],
]

/** Prints a line per step. Fails at the first step that does not hold. */
export async function runCheck(show: Show, print: (line: string) => void): Promise<void> {
  const begun = performance.now()
  const isOfNodes = show.stage.bridge.processes.length > 1
  for (const [name, run] of isOfNodes ? [...steps, ...nodeSteps] : steps) {
    const since = performance.now()
    const said = await run(show)
    assertTally(show, name)
    print(`✓ ${name} (${typeof said === 'string' ? `${said}; ` : ''}${Math.round(performance.now() - since)} ms)`)
  }
  const { in: received, out } = show.passages.tally()
  const seconds = ((performance.now() - begun) / 1000).toFixed(1)
  print(`Nothing lost, nothing doubled: ${received.arrived} messages in, ${out.arrived} out, in ${seconds} s.`)
}

function assertTally(show: Show, step: string): void {
  const { in: received, out, failed, doubled } = show.passages.tally()
  if (received.sent === received.arrived && out.sent === out.arrived && doubled === 0 && failed === 0) return
  throw new Error(`after "${step}" something is lost or doubled: ${JSON.stringify(show.passages.tally())}`)
}

async function scan(show: Show): Promise<void> {
  await until('the QR code is on the screen', async () => (await show.qrPicture()) !== null)
  await show.scan()
}

async function arrives(passage: Passage): Promise<void> {
  await until(`the ${passage.kind} arrives`, () => passage.arrivedAt !== null)
}

async function answer(show: Show, text: string): Promise<void> {
  await arrives(show.passages.ofAnswer(await show.agent.answer(conversation(show), text)))
}

async function answerWithPhoto(show: Show): Promise<void> {
  await arrives(show.passages.ofAnswer(await show.agent.sendPhoto(conversation(show), 'Here it is')))
}

async function lookAndAnswer(show: Show, text: string): Promise<void> {
  await show.agent.look(conversation(show))
  await answer(show, text)
}

/** Chatwoot tells the bridge with the answer what the agent has seen. */
async function bluePhoneTicks({ customer, stage }: Show): Promise<void> {
  const id = customer.written[0]?.sent.id
  await stage.maria.receipts.waitFor('the read receipt', (each) => each.id === id && each.type === 'read', patienceMs)
}

async function answerIsRead({ stage }: Show): Promise<void> {
  const isRead = ({ messageType, status }: { messageType: string; status: string }) =>
    messageType === 'outgoing' && status === 'read'
  await stage.world.helpdesk.waitForMessage(undefined, isRead, patienceMs)
}

async function call({ customer }: Show): Promise<void> {
  const passage = customer.call()
  await arrives(passage)
  customer.hangUp()
}

async function deleteAnswer(show: Show): Promise<void> {
  const last = show.stage.world.helpdesk.messages().findLast(({ messageType }) => messageType === 'outgoing')
  const id = last?.id ?? 0
  await show.agent.delete(conversation(show), id)
  await arrives(show.passages.ofAnswer(id, true))
}

async function twice(show: Show): Promise<void> {
  const before = { network: show.watch.view.repeated, callbacks: show.repeatedCallbacks }
  show.breakages.deliverTwice(true)
  await arrives(show.customer.write('Did this come twice?'))
  await answer(show, 'No, only once.')
  await until('both repetitions came', async () => {
    await show.watch.look()
    return show.watch.view.repeated > before.network && show.repeatedCallbacks > before.callbacks
  })
  show.breakages.deliverTwice(false)
}

async function cutNetwork(show: Show): Promise<void> {
  await show.breakages.cutNetwork()
  const id = await show.agent.answer(conversation(show), 'Written while WhatsApp was away')
  await until('the answer waits in the outbox', async () => {
    await show.watch.look()
    return show.watch.view.outboxPending > 0
  })
  await show.breakages.restoreNetwork()
  await arrives(show.passages.ofAnswer(id))
}

async function stopHelpdesk(show: Show): Promise<void> {
  await show.breakages.stopHelpdesk()
  const passage = show.customer.write('Written while the helpdesk was away')
  await until('the message waits in the inbox', async () => {
    await show.watch.look()
    return show.watch.view.inboxPending > 0
  })
  await show.breakages.startHelpdesk()
  await arrives(passage)
}

async function kill(show: Show): Promise<void> {
  const { customer, breakages } = show
  const written: Passage[] = []
  const write = (text: string) => written.push(customer.write(text))
  await breakages.killBridge(
    () => {
      for (const text of ['one', 'two', 'three']) write(text)
    },
    () => write('Written while the bridge was dead'),
  )
  for (const passage of written) await arrives(passage)
  await show.ready()
  await answer(show, 'And the answer, too')
}

/** The node stays dead. */
async function killNode(show: Show): Promise<string> {
  const { watch, customer, breakages } = show
  const holder = () => show.stage.bridge.processes.indexOf(watch.nodes.holderOf(instance)) + 1
  await watch.look()
  const number = holder()
  await breakages.killNode(number)
  const written = customer.write('Written while no node held the account')
  await until('another node has the accounts', async () => {
    await watch.look()
    return watch.nodes.death?.node === number && watch.nodes.death.movedMs !== null
  })
  const { accounts, movedMs } = watch.nodes.death ?? { accounts: [], movedMs: null }
  const said = `${accounts.join(', ')} moved in ${((movedMs ?? 0) / 1000).toFixed(1)} s`
  if (movedMs === null || movedMs > promisedMs) throw new Error(`${said}, and ${promisedMs / 1000} s are promised`)
  await arrives(written)
  await show.ready()
  return said
}

/** The conversation with the customer on the screen. */
function conversation({ stage }: Show): number {
  return stage.world.helpdesk.see.conversations()[0]?.id ?? 0
}

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const since = performance.now()
  while (!(await holds())) {
    if (performance.now() - since > patienceMs) throw new Error(`waited ${patienceMs} ms until ${what}`)
    await new Promise((resolve) => setTimeout(resolve, lookAgainMs))
  }
}
