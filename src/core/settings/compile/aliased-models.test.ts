import { describe, expect, it } from 'vitest';
import type { Route, Target } from '../../kernel/index.ts';
import { aliasedModels } from './aliased-models.ts';
import { compileGatewayConfig } from './gateway-config.ts';

const aliases = aliasedModels({
  aliases: { fast: { target: '@openai/gpt-5-mini' }, pair: { config: 'both' } },
});
const model = '@openai/gpt-5-mini';

const targetsOf = (route: Route): readonly Target[] =>
  route.kind === 'target' ? [route] : route.members.flatMap(targetsOf);

describe('the model of a target that names an alias', () => {
  it.each<[string, Parameters<typeof compileGatewayConfig>[1], unknown, unknown]>([
    ['without an entry', { override_params: { model: 'fast' } }, model, undefined],
    ['by default', { default_params: { model: 'fast' } }, undefined, model],
    ['both ways', { default_params: { model: 'fast' }, override_params: { model: 'fast' } }, model, model],
    ['at the entry of the alias', { provider: '@openai', override_params: { model: 'fast' } }, model, undefined],
    // An alias may have the name of a model at another entry.
    ['at another entry', { provider: '@azure', override_params: { model: 'fast' } }, 'fast', undefined],
    ['at a provider', { provider: 'openai', override_params: { model: 'fast' } }, 'fast', undefined],
    ['in another spelling', { override_params: { model: 'Fast' } }, 'Fast', undefined],
    ['of a config', { override_params: { model: 'pair' } }, 'pair', undefined],
    ['of an object’s own keys', { override_params: { model: 'constructor' } }, 'constructor', undefined],
  ])('%s', (_, file, override, byDefault) => {
    const [target] = targetsOf(compileGatewayConfig('it', file, { aliases }).route);
    expect([target?.overrideParams?.['model'], target?.defaultParams?.['model']]).toEqual([override, byDefault]);
    expect(target?.overrideLevels.at(-1)?.['model']).toBe(override);
    expect(target?.aliases?.get(model)).toBe([override, byDefault].includes(model) ? 'fast' : undefined);
  });

  it('is that of the nearest level, at each target as its own entry decides', () => {
    const file = {
      strategy: { mode: 'fallback' as const },
      override_params: { model: 'fast', user: 'u' },
      targets: [{}, { provider: '@azure' }, { provider: '@azure', override_params: { model: 'own' } }],
    };
    const targets = targetsOf(compileGatewayConfig('it', file, { aliases }).route);
    expect(targets.map(({ overrideParams }) => overrideParams)).toEqual(
      [model, 'fast', 'own'].map((name) => ({ model: name, user: 'u' })),
    );
  });
});
