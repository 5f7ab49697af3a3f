// What the service writes into conversations, in the languages of SERVICE_LOCALE, byte for byte.

import '../../sim/harness/quiet.ts'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { proto } from 'baileys'
import { World } from '../../harness/world.ts'

const { Type: Pin } = proto.Message.PinInChatMessage
const { KeepType } = proto

type Wanted = {
  reacted: string
  unreacted: string
  edited: string
  deleted: string
  album: string
  viewOnce: string
  poll: string
  voted: string
  liveLocation: string
  ad: string
  unsupported: string
  pinned: string
  kept: string
  quotedPicture: string
  ringing: string
  missed: string
  subject: string
}

const wanted: Record<'es' | 'pt', Wanted> = {
  es: {
    reacted: '`+5511988887777 · ~Maria`\nreaccionó con 👍',
    unreacted: '`+5511988887777 · ~Maria`\nquitó su reacción',
    edited: '✏️ Editado:\nthe **second** one',
    deleted: '🗑️ Quien envió este mensaje lo eliminó',
    album: '🖼️ Álbum: 3 fotos y 1 video',
    viewOnce: '👁️ Para ver una sola vez (archivo): solo se puede abrir en el teléfono',
    poll: '📊 Encuesta: Lunch?\n- Pizza\n- Salad',
    voted: '🗳️ votó por: Salad',
    liveLocation: '📍 Ubicación en tiempo real\nhttps://maps.google.com/?q=1.5,2.5\ncoming',
    ad: 'I saw it\n\n📣 Llegó desde un anuncio: Shoes\nNow cheap\nhttps://ad.example/1',
    unsupported: '❔ Tipo de mensaje no compatible aquí (eventMessage). Se puede ver en el teléfono.\nParty',
    pinned: '📌 fijó un mensaje',
    kept: '🔖 conservó un mensaje',
    quotedPicture: '> `↪ +5511988887777 · ~Maria`\n> [foto]\n\nthat one',
    ringing: '📹 Videollamada',
    missed: '📹 Videollamada perdida',
    subject: 'Maria cambió el nombre del grupo a &quot;Equipo&quot;',
  },
  pt: {
    reacted: '`+5511988887777 · ~Maria`\nreagiu com 👍',
    unreacted: '`+5511988887777 · ~Maria`\nremoveu a reação',
    edited: '✏️ Editada:\nthe **second** one',
    deleted: '🗑️ Esta mensagem foi apagada por quem a enviou',
    album: '🖼️ Álbum: 3 fotos e 1 vídeo',
    viewOnce: '👁️ Visualização única (arquivo): só pode ser aberta no telefone',
    poll: '📊 Enquete: Lunch?\n- Pizza\n- Salad',
    voted: '🗳️ votou em: Salad',
    liveLocation: '📍 Localização em tempo real\nhttps://maps.google.com/?q=1.5,2.5\ncoming',
    ad: 'I saw it\n\n📣 Veio de um anúncio: Shoes\nNow cheap\nhttps://ad.example/1',
    unsupported: '❔ Tipo de mensagem não suportado aqui (eventMessage). Pode ser visto no telefone.\nParty',
    pinned: '📌 fixou uma mensagem',
    kept: '🔖 manteve uma mensagem',
    quotedPicture: '> `↪ +5511988887777 · ~Maria`\n> [foto]\n\nthat one',
    ringing: '📹 Chamada de vídeo',
    missed: '📹 Chamada de vídeo perdida',
    subject: 'Maria mudou o nome do grupo para &quot;Equipo&quot;',
  },
}

async function everyKind(world: World): Promise<Wanted> {
  const { phone, network, helpdesk } = world
  const maria = network.person({ phone: '5511988887777', pushName: 'Maria' })
  const said = async (sent: { id: string }) => (await world.arrived(sent)).content ?? ''
  const first = maria.text(phone, 'the first one')
  await said(first)
  const poll = maria.poll(phone, 'Lunch?', ['Pizza', 'Salad'])
  const externalAdReply = { title: 'Shoes', body: 'Now cheap', sourceUrl: 'https://ad.example/1' }
  const live = { liveLocationMessage: { degreesLatitude: 1.5, degreesLongitude: 2.5, caption: 'coming' } }
  const albumMessage = { expectedImageCount: 3, expectedVideoCount: 1 }
  const call = maria.call(phone, { video: true })
  const ringing = await world.arrived(call)
  call.end(true)
  const picture = maria.media(phone, 'image', { bytes: Buffer.from('x') })
  const group = network.group('Team', maria, [phone])
  group.setSubject(maria.user, 'Equipo')
  return {
    reacted: await said(maria.react(first, '👍')),
    unreacted: await said(maria.react(first, '')),
    edited: await said(maria.edit(first, 'the *second* one')),
    deleted: await said(maria.revoke(first)),
    album: await said(maria.send(phone, { albumMessage })),
    viewOnce: await said({ id: maria.viewOnce(phone) }),
    poll: await said(poll),
    voted: await said(maria.vote(poll, ['Salad'])),
    liveLocation: await said(maria.send(phone, live)),
    ad: await said(maria.send(phone, { extendedTextMessage: { text: 'I saw it', contextInfo: { externalAdReply } } })),
    unsupported: await said(maria.send(phone, { eventMessage: { name: 'Party' } })),
    pinned: await said(maria.send(phone, { pinInChatMessage: { key: { id: first.id }, type: Pin.PIN_FOR_ALL } })),
    kept: await said(
      maria.send(phone, { keepInChatMessage: { key: { id: first.id }, keepType: KeepType.KEEP_FOR_ALL } }),
    ),
    quotedPicture: await said(maria.text(phone, 'that one', { quote: picture })),
    ringing: ringing.content ?? '',
    missed: (await world.arrived(call, ({ id }) => id !== ringing.id)).content ?? '',
    subject: (await helpdesk.waitForMessage(undefined, ({ content }) => /Equipo/.test(content ?? ''))).content ?? '',
  }
}

describe('the words of the service', () => {
  for (const locale of ['es', 'pt'] as const) {
    test(`in ${locale}`, async () => {
      const environment = { SERVICE_LOCALE: locale, SERVICE_GROUP_EVENTS_ENABLED: 'true' }
      await using world = await World.open({ environment })
      assert.deepEqual(await everyKind(world), wanted[locale])
    })
  }
})
