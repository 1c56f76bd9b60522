/* oxlint-disable unicorn/no-thenable -- the config's own word for where a condition leads */
import { describe, expect, it } from 'vitest';
import { explain, type AskParts, type SettingsText } from '../explain.testkit.ts';

const SIM = { slug: 'sim', provider: 'simulator' };

const PROD = `provider: "@sim"
strategy:
  mode: conditional
  conditions:
    - query: { metadata.tier: gold, params.max_tokens: { $gt: 100 } }
      then: big
    - query:
        $or:
          - headers.x-tenant: acme
          - $not: { model: { $regex: "^small" } }
      then: nested
    - query: { operation: embeddings }
      then: small
  default: small
targets:
  - { name: small }
  - { name: big }
  - name: nested
    strategy:
      mode: conditional
      conditions: [ { query: { params.user: { $exists: true } }, then: a } ]
      default: b
    targets: [ { name: a }, { name: b } ]
`;

const settings = (prod: string, env?: object): SettingsText => ({
  catalog: { providers: [SIM] },
  gateway: { prod },
  ...env,
});
const rulesOf = async (parts: AskParts, prod = PROD) =>
  (await explain(settings(prod), { config: 'prod', json: { model: 'small-1' }, ...parts })).rules;

describe('the rules of a config', () => {
  it('are listed in order, with the compared values and their places', async () => {
    const headers = { 'x-gateway-metadata': '{"tier":"gold"}', 'x-tenant': 'acme' };
    const rules = await rulesOf({ headers, json: { model: 'small-1', max_tokens: 50 } });
    const place = (line: number, column: number) => ({ file: 'configs/gateway/prod.yaml', line, column });
    expect(rules).toEqual([
      {
        conditional: 'config',
        to: 'config.targets[2]',
        otherwise: false,
        conditions: [
          {
            index: 0,
            at: place(5, 7),
            holds: false,
            then: 'config.targets[1]',
            tests: [
              { field: 'metadata.tier', operator: '$eq', wanted: 'gold', found: 'gold', holds: true, at: place(5, 16) },
              { field: 'params.max_tokens', operator: '$gt', wanted: 100, found: 50, holds: false, at: place(5, 58) },
            ],
          },
          {
            index: 1,
            at: place(7, 7),
            holds: true,
            then: 'config.targets[2]',
            tests: [
              {
                field: '$or',
                operator: undefined,
                wanted: undefined,
                holds: true,
                at: place(8, 9),
                inner: [
                  {
                    field: 'headers.x-tenant',
                    operator: '$eq',
                    wanted: 'acme',
                    found: 'acme',
                    holds: true,
                    at: place(9, 13),
                  },
                  {
                    field: '$not',
                    operator: undefined,
                    wanted: undefined,
                    holds: false,
                    at: place(10, 13),
                    inner: [
                      {
                        field: 'model',
                        operator: '$regex',
                        wanted: '^small',
                        found: 'small-1',
                        holds: true,
                        at: place(10, 30),
                      },
                    ],
                  },
                ],
              },
            ],
          },
          { index: 2, at: place(12, 7), holds: undefined, then: 'config.targets[0]', tests: [] },
        ],
      },
      {
        conditional: 'config.targets[2]',
        to: 'config.targets[2].targets[1]',
        otherwise: true,
        conditions: [
          {
            index: 0,
            at: place(21, 21),
            holds: false,
            then: 'config.targets[2].targets[0]',
            tests: [{ field: 'params.user', operator: '$exists', wanted: true, holds: false, at: place(21, 47) }],
          },
        ],
      },
    ]);
  });

  it('are none when the request reached no conditional', async () => {
    expect(await rulesOf({}, 'provider: "@sim"\n')).toEqual([]);
  });

  it('of an inline config have no lines', async () => {
    const strategy = {
      mode: 'conditional',
      conditions: [{ query: { model: 'm' }, then: 'a' }],
      default: 'a',
    };
    const config = JSON.stringify({ strategy, targets: [{ name: 'a', provider: '@sim' }] });
    const { rules } = await explain(settings(PROD), { config, json: { model: 'm' } });
    expect(rules[0]?.conditions[0]).toMatchObject({
      holds: true,
      tests: [{ field: 'model', found: 'm', at: undefined }],
    });
    expect(rules[0]?.conditions[0]?.at?.file).toBeUndefined();
  });

  it('show 200 characters of a long value', async () => {
    const [rule] = await rulesOf({ json: { model: `small-${'x'.repeat(300)}` } });
    const reported = JSON.stringify(rule);
    expect(reported).toContain(`small-${'x'.repeat(194)}…`);
    expect(reported).not.toContain('x'.repeat(195));
  });

  it('show no value that a file contains by reference, and no gateway key', async () => {
    const key = 'gatehouse-test-key-0123456789';
    const prod = `provider: "@sim"
strategy:
  mode: conditional
  conditions:
    - { query: { headers.x-inside: "\${env:INSIDE:-canary-shared-word}", params.user: ${key} }, then: a }
  default: a
targets: [ { name: a } ]
`;
    const headers = { 'x-inside': 'canary-shared-word', 'x-gateway-api-key': key };
    const rules = await rulesOf({ headers, json: { model: 'm', user: key } }, prod);
    expect(rules[0]?.conditions[0]).toMatchObject({
      holds: true,
      tests: [
        { found: '[env:INSIDE]', wanted: '[env:INSIDE]' },
        { found: '[secret]', wanted: '[secret]' },
      ],
    });
    expect(JSON.stringify(rules)).not.toMatch(/canary|0123456789/);
  });
});
