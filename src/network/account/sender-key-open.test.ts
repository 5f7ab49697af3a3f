import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GroupCipher } from 'baileys/lib/Signal/Group/group_cipher.js'
import { SenderKeyRecord } from 'baileys/lib/Signal/Group/sender-key-record.js'
import { Curve, proto } from '../library/library.ts'
import { applyLibraryPatches } from '../library/patches/apply.ts'
import { openWithSenderKey } from './sender-key-open.ts'

type Name = ConstructorParameters<typeof GroupCipher>[1]
const name = 'a member' as unknown as Name
applyLibraryPatches()

/** Keeps the record of one member as the library stores it. */
class Keeper {
  stored: Buffer
  readonly cipher: GroupCipher

  constructor(record: SenderKeyRecord) {
    this.stored = textOf(record)
    this.cipher = new GroupCipher(
      {
        loadSenderKey: () => Promise.resolve(SenderKeyRecord.deserialize(this.stored)),
        storeSenderKey: (_, changed) => {
          this.stored = textOf(changed)
          return Promise.resolve()
        },
      },
      name,
    )
  }
}

function textOf(record: SenderKeyRecord): Buffer {
  return Buffer.from(JSON.stringify(record.serialize()))
}

/** The author of messages, a reader by the library, and the record of a reader without it. */
function setUp() {
  const [seed, signing] = [Curve.generateKeyPair().private, Curve.generateKeyPair()]
  const [ofAuthor, ofReader] = [new SenderKeyRecord(), new SenderKeyRecord()]
  ofAuthor.setSenderKeyState(7, 0, seed, signing)
  ofReader.addSenderKeyState(6, 0, Curve.generateKeyPair().private, signing.public)
  ofReader.addSenderKeyState(7, 0, seed, signing.public)
  return { author: new Keeper(ofAuthor), reader: new Keeper(ofReader), signing }
}

test('a record is after a message as the library leaves it, and the text is the same', async () => {
  const { author, reader } = setUp()
  for (const text of ['', 'first', 'x'.repeat(5_000)]) {
    const message = await author.cipher.encrypt(Buffer.from(text))
    const opened = openWithSenderKey(reader.stored, message)
    assert.equal(opened?.plain.toString(), text)
    assert.equal(Buffer.from(await reader.cipher.decrypt(message)).toString(), text)
    assert.deepEqual(JSON.parse(opened.record.toString()), JSON.parse(reader.stored.toString()))
  }
})

test('the library opens what is not the next message of its author', async () => {
  const { author, reader } = setUp()
  const messages: Uint8Array[] = []
  for (const text of ['first', 'second', 'third']) messages.push(await author.cipher.encrypt(Buffer.from(text)))
  const [first, second, third] = messages as [Uint8Array, Uint8Array, Uint8Array]
  const opens = (message: Uint8Array) => openWithSenderKey(reader.stored, message) !== undefined
  assert.deepEqual([first, second].map(opens), [true, false], 'one that overtakes another')
  await reader.cipher.decrypt(second)
  assert.deepEqual(
    [first, second, third].map(opens),
    [false, false, true],
    'one that was overtaken, and a repeated one',
  )
  const stranger = setUp()
  assert.equal(opens(await stranger.author.cipher.encrypt(Buffer.from('of another chain'))), false)
})

test('a message whose signature or text was changed is not opened', async () => {
  const { author, reader } = setUp()
  const message = await author.cipher.encrypt(Buffer.from('a text'))
  for (const at of [0, 8, message.length - 70, message.length - 1]) {
    const changed = Buffer.from(message)
    changed[at] = (changed[at] ?? 0) ^ 1
    assert.equal(openWithSenderKey(reader.stored, changed), undefined, `byte ${at}`)
  }
  assert.equal(openWithSenderKey(reader.stored, Buffer.alloc(0)), undefined)
})

test('the library gets a signed message whose text cannot be deciphered', () => {
  const { reader, signing } = setUp()
  const content = proto.SenderKeyMessage.encode({ id: 7, iteration: 0, ciphertext: Buffer.alloc(15) }).finish()
  const signed = Buffer.concat([Buffer.of(0x33), content])
  const message = Buffer.concat([signed, Curve.sign(signing.private, signed)])
  assert.equal(openWithSenderKey(reader.stored, message), undefined)
})
