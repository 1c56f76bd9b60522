import { Readable } from 'node:stream';
import body from '../../plugins/body/index.ts';
import { compileCatalog } from '../../src/core/catalog/catalog.ts';
import { ModelLabels } from '../../src/core/catalog/model-labels.ts';
import { CatalogResolver } from '../../src/core/catalog/target-resolver.ts';
import { GatewayError, Secret } from '../../src/plugin/index.ts';
import type { Operation } from '../../src/core/kernel/index.ts';
import {
  createAttempt,
  createCaller,
  createContext,
  createExchange,
  createFakeClock,
  createTarget,
  runPlugin,
} from '../../src/plugin/testing/index.ts';
import { noTokenCalls, testSetup } from '../../src/core/providers/setup.testkit.ts';
import { createTranslator } from '../../src/core/translate/translator.ts';
import type { Form } from './form-shapes.ts';

const MiB = 1024 * 1024;
const form = { bytes: 512 * MiB, held: 32 * MiB, idleMs: 30_000 };
const limits = { body: 48 * MiB, form, json: { depth: 64, keys: 10_000, items: 200_000 }, reserve: () => undefined };

const catalog = compileCatalog(
  { providers: [{ slug: 'openai', provider: 'openai', api_key: new Secret('sk-test') }] },
  testSetup(noTokenCalls).setup,
);
const resolver = new CatalogResolver(catalog, new ModelLabels());
const translator = createTranslator(createFakeClock());
/** Field rules read every field. With them no field may follow a file that passes through. */
const ruled = createCaller({ fields: { deny: ['prompt.**', 'words[]', '**.file_id'] } });
const target = createTarget();

export interface FormServing {
  readonly operation: Operation;
  /** The form's size is in its header: it is held whole. Otherwise its first file passes through. */
  readonly announced: boolean;
}

/** What the gateway does with a form: reads it, finds its model, checks its fields and writes it for its target. A refusal is an outcome. */
export async function serveForm(
  boundary: string,
  pieces: readonly Buffer[],
  { operation, announced }: FormServing,
): Promise<string> {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const headers = {
    'content-type': `multipart/form-data; boundary="${boundary}"`,
    ...(announced && { 'content-length': String(length) }),
  };
  const exchange = createExchange({ operation, headers, caller: announced ? ruled : createCaller() });
  const context = createContext(exchange);
  // A request would join the pieces that have arrived.
  context.req.iterator = () => Readable.from(pieces).iterator();
  try {
    await runPlugin(body, { context, needs: { limits } });
    const received = exchange.request.body!;
    const model = received.string('model') ?? '';
    const resolved = resolver.resolve(exchange, target, model, received.value('stream') === true);
    const attempt = createAttempt(exchange, { body: received, resolved });
    const { outbound } = translator.prepare(exchange, attempt, resolved);
    let written = 0;
    for await (const piece of outbound.form!) written += piece.length;
    return `${written} ${resolved.model}`;
  } catch (error) {
    if (error instanceof GatewayError) return error.message;
    throw error;
  }
}

const MODEL = '@openai/gpt-4o-transcribe';

/** A form whose first part is the model. */
export const withModel = ({ boundary, text }: Form): Buffer =>
  Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="model"\r\n\r\n${MODEL}\r\n${text}`, 'latin1');
