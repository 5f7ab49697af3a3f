// Corrects three faults of group messages. No upstream issue is known for them.
//
// Skipped keys do not survive storage. A repeated key announcement adds its state twice. Our own chain keeps every key.

import { groupCipherMethods, SenderKeyMessage, senderKeyRecordMethods, senderKeyStateMethods } from '../library.ts'

export function repairSenderKeys(): void {
  reviveSkippedKeys()
  addStatesOnce()
  keepOwnChainShort()
}

/** A skipped key comes back from storage as plain data, which the cipher refuses. Then an overtaken message is lost. */
function reviveSkippedKeys(): void {
  const { removeSenderMessageKey } = senderKeyStateMethods
  senderKeyStateMethods.removeSenderMessageKey = function (iteration) {
    for (const key of this.getStructure().senderMessageKeys) {
      if (key.iteration === iteration) key.seed = Buffer.from(key.seed)
    }
    return removeSenderMessageKey.call(this, iteration)
  }
}

/** A record holds five states. A key that is announced again must not push an older state out. */
function addStatesOnce(): void {
  const { addSenderKeyState } = senderKeyRecordMethods
  senderKeyRecordMethods.addSenderKeyState = function (id, ...rest) {
    if (!this.getSenderKeyState(id)) addSenderKeyState.call(this, id, ...rest)
  }
}

/** The library skips one key of our own chain per message and keeps it, although no code ever reads it. */
function keepOwnChainShort(): void {
  groupCipherMethods.encrypt = async function (padded) {
    const { senderKeyName, senderKeyStore } = this
    const record = await senderKeyStore.loadSenderKey(senderKeyName)
    const state = record?.getSenderKeyState()
    if (!record || !state) throw new Error('No session to encrypt message')
    state.getStructure().senderMessageKeys = []
    const key = this.getSenderKey(state, state.getSenderChainKey().getIteration())
    const sealed = await this.getCipherText(key.getIv(), key.getCipherKey(), padded)
    const message = new SenderKeyMessage(state.getKeyId(), key.getIteration(), sealed, state.getSigningKeyPrivate())
    await senderKeyStore.storeSenderKey(senderKeyName, record)
    return message.serialize()
  }
}
