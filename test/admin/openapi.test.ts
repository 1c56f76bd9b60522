import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPERATIONS } from '../../src/addons/admin/api/routes.ts';
import { PROBLEMS } from '../../src/addons/admin/api/problems.ts';
import { rowOf } from '../../src/addons/budgets/store/contract/opened-store.testkit.ts';
import { BUILT, CALLS, CREATED_KINDS, releasePrompt, sampleOf } from './calls.ts';
import { chat, startAdmin, type AdminGateway } from './kit.ts';

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: object }>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: object }>> }>
  >;
}

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: object };
}

let admin: AdminGateway;
let token: string;
let document: Document;
let explainId: string;
let ajv: InstanceType<typeof Ajv2020>;

beforeAll(async () => {
  admin = await startAdmin({ gateway: { default: { provider: '@sim', reply_headers: ['explain_id'] } } });
  token = await admin.token('admin');
  document = (await admin.ask('GET', '/openapi.json', { token })).json;
  ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true }).addSchema({ $id: 'doc', ...document });
  const served = await chat(admin, { 'x-request-id': 'served', 'x-gateway-metadata': '{"app":"search"}' });
  explainId = served.headers.get('x-gateway-explain-id')!;
  const { ledger } = admin.gateway.state!.store!;
  await ledger.append([
    rowOf(1, { team: 'search', nano: 17, at: Date.now() - 1000 }),
    rowOf(2, { team: 'ads', nano: 4, at: Date.now() - 1000, firstMs: undefined }),
  ]);
});
afterAll(() => admin.close());

const documented = (): [string, string, Operation][] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, string, Operation] => [
      method.toUpperCase(),
      path,
      operation,
    ]),
  );

/** Compiles a schema of the document where it stands, with its references. */
const validatorOf = (schema: object) =>
  ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"doc#/')) as object);

describe('the OpenAPI document', () => {
  it('has every operation of the table, and no other', () => {
    expect(document.openapi).toBe('3.1.0');
    const wanted = OPERATIONS.map(([id, { method, path }]) => `${method} ${path} ${id}`);
    expect(
      documented()
        .map(([method, path, { operationId }]) => `${method} ${path} ${operationId}`)
        .sort(),
    ).toEqual(wanted.sort());
  });

  it('refers to schemas that it has, each of which is a valid schema', () => {
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"(#[^"]*)"/g)].map(([, ref]) => ref!);
    expect(refs.length).toBeGreaterThan(50);
    for (const ref of new Set(refs)) expect(() => ajv.compile({ $ref: `doc${ref}` })).not.toThrow();
    expect(JSON.stringify(document)).not.toMatch(/gatehouse\.dev|x-secret|tsType|"definitions"/);
  });

  it('names the parameters of each path', () => {
    for (const [, path, { parameters }] of documented()) {
      const inPath = parameters.filter((one) => one.in === 'path').map(({ name }) => `{${name}}`);
      expect(path.match(/\{\w+\}/g) ?? []).toEqual(inPath);
    }
  });

  it.each(BUILT)(
    'says what %s answers, and which bodies and errors it has',
    async (id, { method, path, body, status, changes, streams }) => {
      const operation = document.paths[path]![method.toLowerCase()]!;
      // A stream goes on, and is no document; tests of its own read it.
      if (streams !== undefined) return;
      const { path: target, body: sample } = CALLS[id];
      await create(id);
      // It needs no ETag: a call without one is done.
      const capture = id === 'captures.delete' ? await admin.ask('POST', '/captures', { token, body: {} }) : undefined;
      const own = target.replace('EXPLAIN_ID', explainId).replace('ID', capture?.json.id ?? `own-${id}`);
      const sent =
        sample && (JSON.parse(JSON.stringify(sample).replace('NEW', `new-${id}`).replace('TOKEN', token)) as object);
      if (body !== undefined)
        expect(validatorOf(operation.requestBody!.content['application/json']!.schema)(sent)).toBe(true);
      const refused = await admin.ask(method, capture ? '/captures/none' : own, {
        token,
        ...(sample && { body: { ...sample, colour: 1 } }),
      });
      if (refused.status >= 400) checkProblem(operation, refused.status, refused.json);
      const answer = await admin.ask(method, own, { token, body: sent, headers: changes ? { 'if-match': '*' } : {} });
      expect([id, answer.status, answer.text]).toEqual([id, status, expect.anything()]);
      const described = operation.responses[String(status)]?.content?.['application/json'];
      if (!described) return expect(answer.text).toBe('');
      const validate = validatorOf(described.schema);
      expect([validate(answer.json), validate.errors]).toEqual([true, null]);
    },
  );

  it('has the errors of every operation', async () => {
    const codes = new Set(Object.keys(PROBLEMS));
    const described = JSON.stringify(document.paths);
    // Those that any path can have, whatever the operation.
    const always = ['method_not_allowed', 'unknown_host', 'foreign_page', 'internal_error'];
    expect([...codes].filter((code) => !described.includes(`\`${code}\``)).sort()).toEqual(always.sort());
  });

  it('has no path that answers without being in it', async () => {
    for (const path of [
      '/',
      '/keys/',
      '/keys/a/b',
      '/users',
      '/keys:rotate',
      '/budgets/none:none',
      '/openapi',
      '/tokens/own:rotate',
    ])
      expect([path, (await admin.ask('GET', path, { token })).status]).toEqual([path, 404]);
    for (const [path, methods] of Object.entries(document.paths))
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        if (method.toLowerCase() in methods) continue;
        const answer = await admin.ask(method, path.replace('{id}', 'x'), { token });
        expect([method, path, answer.status]).toEqual([method, path, 405]);
        const allowed = Object.keys(methods).map((one) => one.toUpperCase());
        expect(
          String(answer.headers['allow'])
            .split(', ')
            .filter((one) => one !== 'HEAD')
            .sort(),
        ).toEqual(allowed.sort());
      }
  });
});

/** Creates what the path of an operation names. */
async function create(id: string): Promise<void> {
  const [kind = ''] = id.split('.');
  if (!CREATED_KINDS.includes(kind)) return;
  await admin.ask('POST', '/teams', { token, body: { id: `node-${id}` } });
  await admin.ask('POST', `/${kind}`, { token, body: sampleOf(kind, `own-${id}`, `team:node-${id}`) });
  if (kind === 'prompts') await releasePrompt(admin, token, `own-${id}`);
}

function checkProblem(operation: Operation, status: number, json: unknown): void {
  const described = operation.responses[String(status)]?.content?.['application/problem+json'];
  expect([operation.operationId, status, described !== undefined]).toEqual([operation.operationId, status, true]);
  const validate = validatorOf(described!.schema);
  expect([validate(json), validate.errors]).toEqual([true, null]);
}
