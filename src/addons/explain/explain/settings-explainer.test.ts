import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../core/kernel/system-clock.ts';
import { createLogger } from '../../../core/record/log/logger.ts';
import { questionOf, withPlugin } from './explain.testkit.ts';
import { SettingsExplainer } from './settings-explainer.ts';
import { SettingsRefused } from '../../../core/settings/source/diagnostic.ts';

const KEY = 'gatehouse-test-key-0123456789';

/** The files that a load of these settings has read. */
function readFrom(model: string, gateway = 'it') {
  const files = {
    server: { chains: { request: ['opens', 'metadata', 'route'] } },
    catalog: {
      providers: [
        { slug: 'own', provider: 'openai', base_url: 'https://own.example/v1', api_key: 'vendor-key-0123456789' },
      ],
    },
    keys: { keys: [{ id: 'team', key: `\${env:NONE:-${KEY}}` }] },
    [`gateway/${gateway}`]: { provider: '@own', override_params: { model } },
  };
  const texts = Object.entries(files).map(
    ([name, value]) => [`configs/${name}.yaml`, { text: JSON.stringify(value) }] as const,
  );
  const folders = new Map([
    ['configs', { names: ['server.yaml', 'catalog.yaml', 'keys.yaml', 'gateway'], folders: [] }],
    ['configs/gateway', { names: [`${gateway}.yaml`], folders: [] }],
  ]);
  return { contents: { files: new Map(texts), folders } };
}

/** Number of created and of open plugins. */
function start(model = 'one') {
  const { seen, registry } = withPlugin('opens');
  const log = createLogger({ level: 'silent' });
  const setup = { configs: 'configs', env: {}, clock: systemClock, log, registry };
  return { seen, explainer: new SettingsExplainer(setup, readFrom(model)) };
}

const modelOf = async (explainer: SettingsExplainer): Promise<unknown> => {
  const { targets } = await explainer.explain(questionOf({ config: 'it', json: { model: 'm' } }));
  return targets[0]?.provider?.model;
};

describe('the explainer of one version of the settings', () => {
  it('compiles them once, on the first question', async () => {
    const { explainer, seen } = start();
    expect(seen.made).toBe(0);
    expect([await modelOf(explainer), await modelOf(explainer)]).toEqual(['one', 'one']);
    expect(seen).toEqual({ made: 1, open: 1 });
  });

  it('closes its plugins when it is released, but after the last answer', async () => {
    const { explainer, seen } = start();
    await modelOf(explainer);
    explainer.hold();
    explainer.release();
    const last = modelOf(explainer);
    explainer.release();
    expect(seen.open).toBe(1);
    expect(await last).toBe('one');
    await expect.poll(() => seen.open).toBe(0);
  });

  it('keeps nothing compiled once its settings are replaced, but still answers', async () => {
    const { explainer, seen } = start();
    await modelOf(explainer);
    explainer.hold();
    explainer.retire();
    await expect.poll(() => seen).toEqual({ made: 1, open: 0 });
    expect(await Promise.all([modelOf(explainer), modelOf(explainer)])).toEqual(['one', 'one']);
    await expect.poll(() => seen).toEqual({ made: 2, open: 0 });
  });

  it('reads moved lines again', async () => {
    const { explainer, seen } = start();
    await modelOf(explainer);
    explainer.readAgain(readFrom('two'));
    expect(await modelOf(explainer)).toBe('two');
    await expect.poll(() => seen).toEqual({ made: 2, open: 1 });
  });

  it('recovers from a failed compilation', async () => {
    const { explainer } = start();
    const { files, folders } = readFrom('three').contents;
    const contents = { files: new Map(), folders };
    explainer.readAgain({ contents });
    await expect(modelOf(explainer)).rejects.toBeInstanceOf(SettingsRefused);
    for (const [path, text] of files) contents.files.set(path, text);
    expect(await modelOf(explainer)).toBe('three');
  });
});
