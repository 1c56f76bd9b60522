import { describe, expect, it } from 'vitest';
import type { CatalogEntry } from '../../../schemas/types.generated.ts';
import { welcome } from '../../core/commands/welcome.ts';
import { Secret } from '../../plugin/index.ts';

const anthropic: CatalogEntry = { slug: 'claude', provider: 'anthropic', api_key: new Secret('x', 'test') };
const simulator: CatalogEntry = { slug: 'sim', provider: 'simulator' };
const address = (port: number) => ({ host: '127.0.0.1', port, url: `http://127.0.0.1:${port}` });

const textFor = (providers: CatalogEntry[]): string =>
  welcome({
    data: address(8787),
    status: address(9464),
    admin: undefined,
    parts: [],
    settings: {
      server: {},
      catalog: { providers },
      keys: { keys: [{ id: 'a', key: new Secret('gatehouse-demo-key', 'test') }] },
    },
  });

describe('the curl line of the start', () => {
  it('calls the simulator with the demo key', () => {
    expect(textFor([simulator])).toContain(
      `  curl http://127.0.0.1:8787/v1/chat/completions -H 'x-gateway-api-key: gatehouse-demo-key' -H 'content-type: application/json' -d '{"model":"@sim/demo","messages":[{"role":"user","content":"Hello"}]}'\n`,
    );
  });

  it('names the simulator wherever it is in the catalog: the demo key may use nothing else', () => {
    expect(textFor([anthropic, simulator])).toContain('"@sim/demo"');
  });
});
