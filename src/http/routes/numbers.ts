// The endpoint that says whether a phone number has an account of WhatsApp.

import { Type } from 'typebox'
import type { NumberLookup } from '../../bridge/people/number-lookup.ts'
import { lidJid, personJid } from '../../core/address.ts'
import { BridgeError } from '../../core/errors.ts'
import { readPhone } from '../../core/phone-spelling.ts'
import type { InstanceRegistry } from '../../instances/instance-registry.ts'
import type { HttpApp } from '../http-app.ts'
import { InstanceName, nullable, responses } from '../schemas.ts'

export type NumberDeps = {
  instances: Pick<InstanceRegistry, 'get'>
  numbers: Pick<NumberLookup, 'find'>
}

const NumberParams = Type.Object({
  name: InstanceName,
  phone: Type.String({ description: 'A phone number with its country code; +, spaces, dots and dashes do not matter' }),
})

const FoundNumber = Type.Object(
  {
    exists: Type.Boolean(),
    jid: nullable(Type.String({ description: 'In the spelling of WhatsApp; null when there is no account' })),
    lid: Type.Optional(Type.String({ description: 'The anonymous id, as <digits>@lid, where WhatsApp tells it' })),
  },
  { title: 'FoundNumber' },
)

export function addNumberRoutes(app: HttpApp, { instances, numbers }: NumberDeps): void {
  app.get(
    '/api/instances/:name/numbers/:phone',
    {
      schema: {
        operationId: 'findNumber',
        summary: 'Say whether a phone number has an account of WhatsApp; 30 new numbers a minute',
        tags: ['messages'],
        params: NumberParams,
        response: responses({ 200: FoundNumber }, 400, 404, 409, 429, 500),
      },
    },
    async ({ params }) => {
      const { name } = instances.get(params.name).record
      const phone = readPhone(params.phone)
      if (phone === undefined) {
        const expected = 'a phone number with its country code, such as +5511888880001'
        throw new BridgeError('SERVICE_BAD_REQUEST', `phone is not ${expected}`)
      }
      const person = await numbers.find(name, phone)
      if (!person) return { exists: false, jid: null }
      return { exists: true, jid: personJid(person), ...(person.lid !== null && { lid: lidJid(person.lid) }) }
    },
  )
}
