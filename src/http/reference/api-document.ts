// The parts of an OpenAPI document that the reference page shows.

export const formType = 'multipart/form-data'

type Constant = string | number | boolean | null

export type ApiSchema = {
  type?: string
  format?: string
  pattern?: string
  description?: string
  nullable?: boolean
  properties?: Record<string, ApiSchema>
  required?: readonly string[]
  items?: ApiSchema
  anyOf?: readonly ApiSchema[]
  enum?: readonly Constant[]
  default?: unknown
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
}
type Parameter = { name: string; in: string; required?: boolean; description?: string; schema?: ApiSchema }
type Content = { content?: Record<string, { schema?: ApiSchema }> }
type OperationObject = {
  operationId?: string
  summary?: string
  description?: string
  tags?: readonly string[]
  security?: readonly unknown[]
  parameters?: readonly Parameter[]
  requestBody?: Content
  responses?: Record<string, Content>
}
export type ApiDocument = {
  info: { title: string; version: string; description?: string }
  tags?: readonly { name: string; description?: string }[]
  paths: Record<string, Record<string, OperationObject>>
}

/** One route with one method. */
export type Operation = OperationObject & { id: string; path: string; method: string }

export function operationsOf({ paths }: ApiDocument): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const id = operation.operationId ?? `${method}${path}`
      return { ...operation, id, path, method: method.toUpperCase() }
    }),
  )
}

/** The content type and the schema of a body. */
export function bodyOf(part: Content | undefined): { type: string; schema: ApiSchema } | undefined {
  const [first] = Object.entries(part?.content ?? {})
  return first && { type: first[0], schema: first[1].schema ?? {} }
}

/** The answer of a call that went well. */
export function successOf({ responses = {} }: Operation): { status: string; body: ReturnType<typeof bodyOf> } {
  const statuses = Object.keys(responses).filter((status) => status.startsWith('2'))
  const status = statuses.find((each) => each === '201') ?? statuses[0] ?? '200'
  return { status, body: bodyOf(responses[status]) }
}

/** The values of a union of constants, or of an enumeration. */
export function valuesOf({ enum: values, anyOf }: ApiSchema): readonly Constant[] | undefined {
  if (values) return values
  const members = anyOf?.map(valuesOf) ?? []
  return members.length > 0 && members.every((each) => each !== undefined) ? members.flat() : undefined
}
