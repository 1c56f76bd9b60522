import type { Explanation } from '../explanation.ts';
import { BY_DEFAULT, createTarget, gemini, prod, settings } from './targets.testkit.ts';

export function createExplanation(parts: Partial<Explanation> = {}): Explanation {
  return {
    settings: { folder: 'configs', hash: '519f7c08bfd78e36' },
    request: {
      id: 'try-1',
      method: 'POST',
      path: '/v1/chat/completions',
      operation: 'chat.completions',
      bytes: 1_162,
      model: '@gpt/any',
      stream: true,
      strict: undefined,
      strictParams: false,
    },
    caller: {
      key: 'search',
      found: 'x-gateway-api-key',
      at: { file: 'configs/keys.yaml', line: 3, column: 5 },
      providers: ['@gpt', '@vertex'],
      models: undefined,
      configs: undefined,
      defaultConfig: 'prod',
      inlineConfigs: false,
      inlinePlugins: false,
      fields: undefined,
      ownUpstreamToken: false,
    },
    config: {
      id: 'prod',
      hash: 'bd46271280',
      name: 'Production',
      found: 'key',
      source: settings({ file: 'configs/keys.yaml', line: 6, column: 21 }, 'keys.0.default_config'),
    },
    metadata: { tier: 'gold', team: 'search' },
    labels: { team: 'search' },
    deadline: { ms: 60_000, source: settings(prod(3, 1), 'deadline') },
    replyHeaders: [
      {
        name: 'x-tenant',
        value: 'search',
        source: { kind: 'plugin', plugin: 'tenant', on: prod(7, 12) },
      },
    ],
    plugins: [
      {
        chain: 'entry',
        target: undefined,
        name: 'auth',
        plugin: 'auth',
        on: BY_DEFAULT,
        state: 'run',
        does: 'key search, by x-gateway-api-key',
        details: undefined,
        refused: undefined,
      },
      {
        chain: 'request',
        target: undefined,
        name: 'metadata',
        plugin: 'metadata',
        on: BY_DEFAULT,
        state: 'run',
        does: undefined,
        details: undefined,
        refused: undefined,
      },
      {
        chain: 'request',
        target: undefined,
        name: 'tenant',
        plugin: 'tenant-header',
        on: settings(prod(7, 12), 'plugins.1'),
        state: 'not run',
        does: undefined,
        details: undefined,
        refused: undefined,
      },
      {
        chain: 'attempt',
        target: 0,
        name: 'override',
        plugin: 'override',
        on: BY_DEFAULT,
        state: 'run',
        does: 'max_tokens set',
        details: undefined,
        refused: undefined,
      },
    ],
    rules: [
      {
        conditional: 'config',
        to: 'config.targets[0]',
        otherwise: false,
        conditions: [
          {
            index: 0,
            at: prod(8, 7),
            holds: false,
            // oxlint-disable-next-line unicorn/no-thenable -- how a config says where a condition leads
            then: 'slow',
            tests: [
              {
                field: '$or',
                operator: undefined,
                wanted: undefined,
                holds: false,
                at: prod(8, 16),
                inner: [
                  {
                    field: 'metadata.tier',
                    operator: '$eq',
                    wanted: 'free',
                    found: 'gold',
                    holds: false,
                    at: prod(9, 9),
                  },
                  { field: 'params.seed', operator: '$gt', wanted: 3, holds: false, at: prod(10, 9) },
                ],
              },
            ],
          },
          {
            index: 1,
            at: prod(11, 7),
            holds: true,
            // oxlint-disable-next-line unicorn/no-thenable -- how a config says where a condition leads
            then: 'fast',
            tests: [
              {
                field: 'metadata.tier',
                operator: '$in',
                wanted: ['gold', 'silver'],
                found: 'gold',
                holds: true,
                at: prod(11, 16),
              },
            ],
          },
          // oxlint-disable-next-line unicorn/no-thenable -- how a config says where a condition leads
          { index: 2, at: prod(12, 7), holds: undefined, then: 'slow', tests: [] },
        ],
      },
    ],
    targets: [createTarget(), gemini()],
    leftOut: [{ target: 'config.targets[2]', name: 'old', at: prod(40), reason: 'same_model' }],
    answer: undefined,
    notes: ['replaced by fakes because not set here: env:OPENAI_API_KEY'],
    ...parts,
  };
}

/** Rejected before any target is tried. */
export const refused = (): Explanation =>
  createExplanation({
    caller: undefined,
    config: undefined,
    metadata: {},
    labels: {},
    rules: [],
    targets: [],
    leftOut: [],
    replyHeaders: [],
    notes: [],
    plugins: [
      {
        chain: 'entry',
        target: undefined,
        name: 'auth',
        plugin: 'auth',
        on: BY_DEFAULT,
        state: 'run',
        does: 'no key fits',
        details: undefined,
        refused: { status: 401, code: 'invalid_api_key', message: 'The gateway key is not known.', param: null },
      },
      {
        chain: 'entry',
        target: undefined,
        name: 'body',
        plugin: 'body',
        on: BY_DEFAULT,
        state: 'not reached',
        does: undefined,
        details: undefined,
        refused: undefined,
      },
    ],
    answer: { status: 401, code: 'invalid_api_key', message: 'The gateway key is not known.', param: null },
  });
