import { describe, expect, it } from 'vitest';
import { compileGatewayConfig } from '../../../core/settings/compile/gateway-config.ts';
import type { GatewayFile } from '../../../../schemas/types.generated.ts';
import type { Target } from '../../../core/kernel/index.ts';
import { ruleChanges } from './body-rules.ts';

const targetOf = (file: GatewayFile): Target => {
  const { route } = compileGatewayConfig('test', file);
  if (route.kind !== 'target') throw new Error('a group');
  return route;
};
const changes = (before: GatewayFile, after: GatewayFile, known: Readonly<Record<string, readonly unknown[]>> = {}) =>
  ruleChanges(targetOf(before), targetOf(after), (path) => known[path]);
const set = (value: unknown): GatewayFile => ({ override_params: { max_tokens: value } });

describe('a change of the parameters of a target', () => {
  it.each<[string, GatewayFile, GatewayFile, Readonly<Record<string, readonly unknown[]>>, object]>([
    ['between two values', set(1), set(2), {}, { certain: [{ path: 'max_tokens', before: 1, after: 2 }], unsure: [] }],
    ['to the same value', set(1), set(1), {}, { certain: [], unsure: [] }],
    ['from the value of the caller', {}, set(2), {}, { certain: [], unsure: ['max_tokens'] }],
    [
      'from a known value of the caller',
      {},
      set(2),
      { max_tokens: [5] },
      { certain: [{ path: 'max_tokens', before: 5, after: 2 }], unsure: [] },
    ],
    ['from the value that the caller has, too', {}, set(5), { max_tokens: [5] }, { certain: [], unsure: [] }],
    [
      'to none',
      set(1),
      { drop_params: ['max_tokens'] },
      {},
      { certain: [{ path: 'max_tokens', before: 1 }], unsure: [] },
    ],
    [
      'that drops the value of the caller',
      {},
      { drop_params: ['max_tokens'] },
      {},
      { certain: [], unsure: ['max_tokens'] },
    ],
    [
      'that gives a default to a caller of whom nothing is known',
      {},
      { default_params: { temperature: 1 } },
      {},
      { certain: [], unsure: ['temperature'] },
    ],
    [
      'that gives a default to a caller without the field',
      {},
      { default_params: { temperature: 1 } },
      { temperature: [undefined] },
      { certain: [{ path: 'temperature', after: 1 }], unsure: [] },
    ],
    [
      'of an object, which is merged into that of the caller',
      set({ a: 1 }),
      set({ a: 2 }),
      {},
      { certain: [], unsure: ['max_tokens'] },
    ],
    [
      'of the model, which is the target itself',
      { override_params: { model: 'a' } },
      { override_params: { model: 'b' } },
      {},
      { certain: [], unsure: [] },
    ],
  ])('%s', (_, before, after, known, expected) => expect(changes(before, after, known)).toEqual(expected));
});
