import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';

const NARROW = 'a-key-of-one-model-0123456789';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    catalog: {
      providers: [{ slug: 'own', provider: 'openai', api_key: 'sk-none' }],
      aliases: {
        'gw-fast': { target: '@own/gpt-5.4-mini' },
        'gw-small': { target: '@own/own-model', context: 128000, max_output: 16000 },
        'gw-plain': { target: '@own/own-model' },
        'gw-hidden': { target: '@own/own-model', context: 64000, max_output: 8000, hidden: true },
      },
    },
    keys: {
      keys: [
        { id: 'test', key: KEY },
        { id: 'narrow', key: NARROW, models: ['gw-small'] },
      ],
    },
  });
});
afterAll(() => gateway.close());

interface Printed {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function agentConfig(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Printed> {
  const said = { out: '', err: '' };
  const code = await commands.get('agent-config')!.run([...args], {
    out: (text) => void (said.out += text),
    err: (text) => void (said.err += text),
    env,
    terminal: undefined,
    input: () => Promise.resolve(Buffer.alloc(0)),
  });
  return { code, ...said };
}

const at = (agent: string, model: string, key = KEY): Promise<Printed> =>
  agentConfig([agent, '--url', gateway.url, '--model', model], { GATEHOUSE_API_KEY: key });

const start = (server: Server): Promise<string> =>
  new Promise((resolve) => {
    onTestFinished(() => server.close().closeAllConnections());
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });

/** The text of a file that the lines write. */
const fileIn = ({ out }: Printed, name: string): unknown => {
  const [, text = 'null'] = new RegExp(`cat > ~/\\S*${name} <<'EOF'\\n([^]*?)\\nEOF`).exec(out) ?? [];
  return JSON.parse(text);
};

describe('agent-config at a running gateway', () => {
  it('gives opencode the limits of the model', async () => {
    const printed = await at('opencode', 'gw-small');
    expect(printed).toMatchObject({ code: 0, err: '' });
    expect(fileIn(printed, 'opencode.json')).toMatchObject({
      provider: { gatehouse: { models: { 'gw-small': { limit: { context: 128000, output: 16000 } } } } },
    });
  });

  it('gives opencode the largest input where the context is more than that', async () => {
    expect(fileIn(await at('opencode', 'gw-fast'), 'opencode.json')).toMatchObject({
      provider: { gatehouse: { models: { 'gw-fast': { limit: { context: 400000, input: 272000, output: 128000 } } } } },
    });
  });

  it('tells opencode of images if the gateway knows that the model takes them', async () => {
    const image = { attachment: true, modalities: { input: ['text', 'image'], output: ['text'] } };
    expect(fileIn(await at('opencode', 'gw-fast'), 'opencode.json')).toMatchObject({
      provider: { gatehouse: { models: { 'gw-fast': image } } },
    });
    expect((await at('opencode', 'gw-small')).out).not.toContain('modalities');
  });

  it('gives opencode no limit that the gateway does not know', async () => {
    expect(fileIn(await at('opencode', 'gw-plain'), 'opencode.json')).toMatchObject({
      provider: { gatehouse: { models: { 'gw-plain': {} } } },
    });
    expect((await at('opencode', 'gw-plain')).out).not.toContain('limit');
  });

  it('gives Claude Code the input of the model', async () => {
    expect((await at('claude', 'gw-small')).out).toContain('export CLAUDE_CODE_MAX_CONTEXT_TOKENS=128000\n');
  });

  it('makes Gemini CLI use the model for its side tasks, and compress a conversation in time', async () => {
    const settings = fileIn(await at('gemini', 'gw-small'), 'settings.json') as {
      model: { compressionThreshold: number };
      modelConfigs: { customOverrides: readonly object[] };
    };
    // Of the 1,048,576 tokens that it assumes: half of the 128,000 of the model.
    expect(settings.model.compressionThreshold).toBe(0.061);
    expect(settings.modelConfigs.customOverrides).toContainEqual({
      match: { model: 'chat-compression-default' },
      modelConfig: { model: 'gw-small' },
    });
    expect((await at('gemini', 'gw-plain')).out).not.toContain('compressionThreshold');
  });

  it('gives Codex a file with the models of the key, and names the file', async () => {
    const printed = await at('codex', 'gw-small', NARROW);
    expect(printed.out).toContain('model_catalog_json = "gatehouse-models.json"\n');
    const { models } = fileIn(printed, 'gatehouse-models.json') as { models: Record<string, unknown>[] };
    expect(models.map(({ slug }) => slug)).toEqual(['gw-small']);
    expect(models[0]).toMatchObject({ context_window: 128000, shell_type: 'unified_exec' });
  });

  it('knows hidden aliases', async () => {
    expect((await at('claude', 'gw-hidden')).out).toContain('MAX_CONTEXT_TOKENS=64000');
  });

  it('refuses an unknown model, and lists close names', async () => {
    const { code, out, err } = await at('opencode', 'gw-fats');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain('has no model "gw-fats" for this key; did you mean "gw-fast"');
  });

  it('prints the lines without limits if the gateway refuses the key, and names the variable and the reason', async () => {
    const { code, out, err } = await at('opencode', 'gw-fast', 'a-key-that-is-not-there-0123');
    expect(code).toBe(0);
    expect(out).toContain('"gw-fast": {}');
    expect(err).toContain(`the gateway at ${gateway.url} refused the key in $GATEHOUSE_API_KEY (HTTP 401: `);
    expect(err).toContain('; the lines have no limits of the model\n');
    expect(err).not.toContain('a-key-that-is-not-there');
  });

  it('asks for the key if the variable has none', async () => {
    const { code, err } = await agentConfig(['opencode', '--url', gateway.url, '--key-env', 'TEAM_KEY']);
    expect(code).toBe(0);
    expect(err).toContain('refused a request without a key (HTTP 401: ');
    expect(err).toContain('; put the gateway key into $TEAM_KEY;');
  });

  it('calls a 403 a refused key, for the list and for the model', async () => {
    const refusal = JSON.stringify({ error: { message: 'not from this address' } });
    const list = await start(createServer((_, res) => void res.writeHead(403).end(refusal)));
    const model = await start(
      createServer(({ url }, res) =>
        url?.includes('client_version') ? res.end('{"data":[]}') : res.writeHead(403).end(refusal),
      ),
    );
    for (const url of [list, model]) {
      const { err } = await agentConfig(['claude', '--url', url, '--model', 'gw-fast'], { GATEHOUSE_API_KEY: KEY });
      expect(err).toContain('refused the key in $GATEHOUSE_API_KEY (HTTP 403: "not from this address")');
      expect(err).not.toContain('did not answer');
    }
  });

  it('asks for no model without --model', async () => {
    const { code, out } = await agentConfig(['codex', '--url', gateway.url], { GATEHOUSE_API_KEY: KEY });
    expect(code).toBe(0);
    expect(out).toContain('model = "MODEL"');
  });
});

describe('agent-config without a gateway', () => {
  it.each(['codex', 'claude', 'gemini', 'opencode'])('prints the lines for %s, and a note', async (agent) => {
    const closed = createServer();
    const url = await start(closed);
    closed.close();
    const { code, out, err } = await agentConfig([agent, '--url', url, '--model', 'gw-fast'], {
      GATEHOUSE_API_KEY: KEY,
    });
    expect(code).toBe(0);
    expect(out).toContain('gw-fast');
    expect(out).not.toMatch(/limit|model_catalog_json|MAX_CONTEXT/);
    expect(err).toContain(`the gateway at ${url} did not answer`);
  });

  it('waits two seconds at most', async () => {
    const url = await start(createServer(() => {}));
    const { code, err } = await agentConfig(['claude', '--url', url, '--model', 'gw-fast']);
    expect(code).toBe(0);
    expect(err).toContain('not within 2000 ms');
  });

  it('takes another server for no gateway, and sends it nothing twice', async () => {
    let requests = 0;
    const url = await start(createServer((_, res) => ((requests += 1), res.writeHead(302, { location: '/x' }).end())));
    const { code, err } = await agentConfig(['claude', '--url', url, '--model', 'gw-fast'], { GATEHOUSE_API_KEY: KEY });
    expect({ code, requests }).toEqual({ code: 0, requests: 1 });
    expect(err).toContain('did not list its models (HTTP 302)');
  });
});
