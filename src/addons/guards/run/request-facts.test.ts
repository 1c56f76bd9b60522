import { expect, it } from 'vitest';
import type { GatewayContext } from '../../../core/kernel/index.ts';
import { compileGuard } from '../guard.ts';
import { factsFor } from './guard-chain.ts';

/** A request for a model, by a config of the operator with these targets. */
function asks(model: string, targets: readonly object[]): GatewayContext {
  const body = { string: (key: string) => (key === 'model' ? model : undefined), json: () => ({ model }) };
  const members = targets.map((target) => ({ kind: 'target', overrideLevels: [], ...target }));
  const request = { params: {}, header: () => undefined, body };
  const exchange = { request, config: { id: 'default', route: { kind: 'fallback', members } }, alias: undefined };
  // A guard of models reads these parts of a request.
  return { exchange } as unknown as GatewayContext;
}

const denies = (deny: readonly string[], ctx: GatewayContext): boolean =>
  factsFor(compileGuard({ name: 'models', check: 'models', options: { deny: [...deny] } }))!(ctx);

it.each([
  ['a name without a provider', ['o1*'], '@openai/o1-mini', [{}]],
  ['a name with a provider, which the config has', ['@openai/o1*'], 'o1-mini', [{ provider: '@openai' }]],
  ['the provider of one of several targets', ['@b/*'], 'm', [{ provider: '@a' }, { provider: '@b' }]],
])('A guard denies a model by %s', (_, deny, model, targets) => {
  expect(denies(deny, asks(model, targets))).toBe(true);
  expect(denies(deny, asks('@other/n', targets))).toBe(false);
});

it('A guard does not deny the model of an operator in place of the one that was asked for', () => {
  const override = { provider: '@openai', overrideParams: { model: 'o1' } };
  expect(denies(['@openai/*'], asks('m', [override, { provider: '@a' }]))).toBe(false);
});
