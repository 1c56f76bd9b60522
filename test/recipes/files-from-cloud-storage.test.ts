import { readFileSync } from 'node:fs';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { testPrivateKey } from '../../src/core/providers/setup.testkit.ts';
import { startGcs, type ScriptedGcs } from '../support/gcs.ts';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { anthropicReply, geminiReply, json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';
import { RECIPES } from './recipes.ts';

const recipe = (name: string): string => readFileSync(packageFile(`${RECIPES}/${name}`), 'utf8');

interface RecipeFiles {
  readonly files: { readonly gcs: object };
  readonly providers: readonly { readonly slug: string }[];
}

const read = (name: string): RecipeFiles => parse(recipe(name)) as RecipeFiles;

let gcs: ScriptedGcs;
let upstream: ScriptedUpstream;
let gateway: TestGateway;
let googleIsDown = false;

/** The files of the recipe, with Google and Anthropic on loopback. */
beforeAll(async () => {
  gcs = await startGcs();
  upstream = await startUpstream(({ url }, res) => {
    if (!url.includes('generateContent')) return json(res, anthropicReply('Sales grew.'));
    return googleIsDown ? json(res, {}, 503) : json(res, geminiReply('Sales grew.'));
  });
  const here = { base_url: upstream.url, allow_insecure: true };
  const places: Readonly<Record<string, object>> = {
    vertex: {
      ...here,
      service_account: {
        type: 'service_account',
        project_id: 'my-project',
        private_key: '${env:SA_KEY}',
        client_email: 'gatehouse@my-project.iam.gserviceaccount.com',
        token_uri: `${gcs.url}/token`,
      },
    },
    anthropic: { ...here, api_key: '${env:NONE:-sk-x}' },
  };
  const { files } = read('server.yaml');
  gateway = await startTestGateway(
    {
      server: {
        egress: { token_uris: [`${gcs.url}/token`] },
        files: { ...files, gcs: { ...files.gcs, base_url: gcs.url, allow_insecure: true } },
      },
      catalog: {
        providers: read('catalog.yaml')
          .providers.filter(({ slug }) => slug in places)
          .map((entry) => ({ ...entry, ...places[entry.slug] })),
      },
      gateway: { 'files-from-cloud-storage': recipe('gateway/files-from-cloud-storage.yaml') },
    },
    { env: { SA_KEY: testPrivateKey() } },
  );
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
  await gcs.close();
});

it('an uploaded file reaches Gemini by its address in the bucket and Claude by its bytes', async () => {
  const client = new OpenAI({
    baseURL: `${gateway.url}/v1`,
    apiKey: KEY,
    maxRetries: 0,
    defaultHeaders: { 'x-gateway-config': 'files-from-cloud-storage' },
  });
  const file = await client.files.create({ file: new File(['%PDF-1.7 sales'], 'report.pdf'), purpose: 'user_data' });
  const [name] = gcs.objects.keys();
  expect(name).toMatch(new RegExp(`^prod/test\\.[0-9a-f]{16}/${file.id}\\.pdf$`));
  const ask = () =>
    client.chat.completions.create({
      model: 'any',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Summarise this report.' },
            { type: 'file', file: { file_id: file.id } },
          ],
        },
      ],
    });

  expect((await ask()).choices[0]?.message.content).toBe('Sales grew.');
  expect(upstream.seen.at(-1)?.json['contents']).toMatchObject([
    {
      parts: [{}, { fileData: { mimeType: 'application/pdf', fileUri: `gs://my-project-gatehouse-files/${name}` } }],
    },
  ]);

  googleIsDown = true;
  expect((await ask()).choices[0]?.message.content).toBe('Sales grew.');
  expect(upstream.seen.at(-1)?.json['messages']).toMatchObject([
    { content: [{}, { type: 'document', source: { type: 'base64', data: btoa('%PDF-1.7 sales') } }] },
  ]);

  await client.files.delete(file.id);
  expect(gcs.objects.size).toBe(0);
  await expect(ask()).rejects.toMatchObject({ status: 404, code: 'file_not_found' });
});
