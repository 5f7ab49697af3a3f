// The files for several nodes agree with the settings, and with the time in which a node gives its instances away.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { parse } from 'yaml'
import { assertBehindProxy, configOf, longestStopSeconds, readYaml, version } from './harness/deploy-files.ts'

type Variable = { name: string; value?: string; valueFrom?: { secretKeyRef?: { key: string } } }
type Manifest = { kind: string; spec: Record<string, unknown> }
type Pod = {
  terminationGracePeriodSeconds: number
  containers: [{ image: string; env: Variable[]; readinessProbe: { httpGet: { path: string } } }]
}
type Node = { image: string; stop_grace_period: string; environment: Record<string, string>; ports?: unknown }

/** How long a node that stops waits at most until others have its instances. */
const drainSeconds = 60
const secrets = { SERVICE_API_TOKEN: 'token', SERVICE_NODE_SECRET: 's'.repeat(32) }
const database = 'postgres://causeway@db/causeway'

describe('kubernetes/nodes.yml', () => {
  const manifests = readYaml('deploy/kubernetes/nodes.yml') as Manifest[]
  const specOf = (kind: string) => manifests.find((each) => each.kind === kind)?.spec ?? assert.fail(kind)
  const { replicas, strategy, template } = specOf('Deployment') as {
    replicas: number
    strategy: { rollingUpdate: object }
    template: { spec: Pod; metadata: { labels: object } }
  }
  const { containers, terminationGracePeriodSeconds } = template.spec
  const [{ env, image, readinessProbe }] = containers

  test('runs several pods, and starts a new one before an old one ends', () => {
    assert.ok(replicas > 1)
    assert.deepEqual(strategy.rollingUpdate, { maxUnavailable: 0, maxSurge: 1 })
  })

  test('gives each pod the settings of a node, with the address of the pod', () => {
    const plain = env.flatMap(({ name, value = '', valueFrom }) => (valueFrom ? [] : ([[name, value]] as const)))
    const variables: Record<string, string> = { ...Object.fromEntries(plain), ...secrets, DATABASE_URL: database }
    const address = variables['SERVICE_NODE_URL']?.replace('$(POD_IP)', '10.0.0.5') ?? ''
    assertBehindProxy({ ...variables, SERVICE_NODE_URL: address })
    assert.equal(configOf({ ...variables, SERVICE_NODE_URL: address }).nodes.url, 'http://10.0.0.5:8091')
    const order = env.map(({ name }) => name)
    assert.ok(order.indexOf('POD_IP') < order.indexOf('SERVICE_NODE_URL'), 'Kubernetes replaces earlier names only')
  })

  test('does not start without its secrets', () => {
    const keys = env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef?.key ?? [])
    assert.deepEqual(keys.sort(), ['DATABASE_URL', 'SERVICE_API_TOKEN', 'SERVICE_NODE_SECRET'])
  })

  test('waits until a node has given its instances away', () => {
    assert.ok(terminationGracePeriodSeconds > drainSeconds + longestStopSeconds)
  })

  test('sends requests to pods that are ready, takes one pod away at a time, and keeps the port of nodes inside', () => {
    assert.equal(readinessProbe.httpGet.path, '/api/ready')
    assert.equal(specOf('PodDisruptionBudget')['maxUnavailable'], 1)
    assert.deepEqual(
      (specOf('PodDisruptionBudget')['selector'] as { matchLabels: object }).matchLabels,
      template.metadata.labels,
    )
    assert.deepEqual(specOf('Service')['ports'], [{ name: 'http', port: 3100, targetPort: 'http' }])
    assert.equal(image, `causeway:${version}`)
  })
})

describe('compose.nodes.yml', () => {
  const text = readFileSync('deploy/compose.nodes.yml', 'utf8')
  const { services } = parse(text, { merge: true }) as { services: Record<string, Node> }
  const names = ['causeway-1', 'causeway-2']

  test('gives each node the settings of a node and its own address', () => {
    for (const name of names) {
      const node = services[name] ?? assert.fail(name)
      const variables = { ...node.environment, ...secrets, DATABASE_URL: database }
      assertBehindProxy(variables)
      assert.equal(configOf(variables).nodes.url, `http://${name}:8091`)
      assert.equal(node.ports, undefined)
      assert.ok(parseInt(node.stop_grace_period) > drainSeconds + longestStopSeconds)
      assert.equal(node.image, `\${CAUSEWAY_IMAGE:-causeway:${version}}`)
    }
  })

  test('says which secrets are missing, and opens one port to this machine only', () => {
    for (const name of Object.keys(secrets)) assert.match(text, new RegExp(`\\$\\{${name}:\\?add ${name} to`))
    assert.deepEqual(services['balancer']?.ports, ['127.0.0.1:3100:3100'])
  })

  test('stops PostgreSQL after the nodes', () => {
    const [node, postgres] = ['causeway-1', 'causeway-postgres'].map((name) => services[name]?.stop_grace_period ?? '')
    assert.ok(parseInt(postgres ?? '') > parseInt(node ?? ''))
  })

  test('its balancer asks every node whether it is ready', () => {
    const balancer = readFileSync('deploy/caddy/nodes.Caddyfile', 'utf8')
    assert.ok(balancer.includes(`reverse_proxy ${names.map((name) => `${name}:3100`).join(' ')} {`))
    assert.ok(balancer.includes('health_uri /api/ready'))
  })
})
