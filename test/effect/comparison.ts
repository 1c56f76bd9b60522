/** Compares the effect of a change of settings with what happens: both serve the same requests. */
import '../support/add-ons.ts';
import { rmSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { Agent, request as httpRequest } from 'node:http';
import { effectOf, type EffectChange, type EffectDone } from '../../src/addons/explain/effect/effect.ts';
import { sampleOfRecord } from '../../src/addons/explain/effect/record-sample.ts';
import { openPair, readingOf } from '../../src/addons/explain/effect/settings-pair.ts';
import { isObject } from '../../src/core/kernel/index.ts';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import { startGateway } from '../../src/core/process/gateway.ts';
import { diskFiles } from '../../src/core/settings/source/files.ts';
import { writeSettings } from '../support/gateway.ts';
import { json, openaiChunk, openaiReply, sse, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';
import { asTestSettings, changeOf, Dice, keyText, requestsOf, settingsOf, type GeneratedRequest } from './generated.ts';

const STATUS: Readonly<Record<string, number>> = { down: 503, busy: 429, strict: 400 };

/** One call as the upstream saw it. */
interface Call {
  readonly target: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Where a request went: its calls, or the error that the client got. */
interface Way {
  readonly calls: readonly Call[];
  readonly code: string | undefined;
}

const startScripted = (): Promise<ScriptedUpstream> =>
  startUpstream((seen, res) => {
    const status = STATUS[String(seen.json['model']).split('-')[0] ?? ''];
    if (status !== undefined) return json(res, { error: { message: 'scripted', type: 'server_error' } }, status);
    if (seen.json['stream'] === true)
      return sse(res, [openaiChunk({ content: 'ok' }), openaiChunk({}, 'stop'), 'data: [DONE]\n\n']);
    return json(res, openaiReply('ok'));
  });

function send(agent: Agent, url: string, { id, key, path, headers, body }: GeneratedRequest): Promise<string> {
  return new Promise((resolve, reject) => {
    const all = {
      'content-type': 'application/json',
      'x-gateway-api-key': keyText(key),
      'x-request-id': id,
      ...headers,
    };
    httpRequest(`${url}${path}`, { method: 'POST', agent, headers: all }, (res) => {
      const pieces: Buffer[] = [];
      res.on('data', (piece: Buffer) => pieces.push(piece));
      res.once('end', () => resolve(Buffer.concat(pieces).toString()));
    })
      .once('error', reject)
      .end(JSON.stringify(body));
  });
}

/** Serves the requests by these settings. */
async function serve(folder: string, requests: readonly GeneratedRequest[], upstream: ScriptedUpstream) {
  let draw = 0;
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const gateway = await startGateway({ configs: folder, env: {}, random: () => draw, logTo: { write() {} } });
  try {
    const from = upstream.seen.length;
    const replies = new Map<string, string>();
    for (const [value, same] of Map.groupBy(requests, (one) => one.draw)) {
      draw = value;
      await Promise.all(same.map(async (one) => replies.set(one.id, await send(agent, gateway.data.url, one))));
    }
    const calls = Map.groupBy(upstream.seen.slice(from), numberOf);
    const ways = requests.map(({ id }, index): Way => {
      const own = calls.get(index) ?? [];
      return {
        calls: own.map(({ url, json: body }) => ({ target: `@${url.split('/')[1]}/${String(body['model'])}`, body })),
        code: own.length > 0 ? undefined : codeIn(replies.get(id)!),
      };
    });
    return { ways, records: gateway.records({ limit: 10_000, whole: true }) };
  } finally {
    agent.destroy();
    await gateway.close();
  }
}

const numberOf = ({ text }: ScriptedUpstream['seen'][number]): number => Number(/request (\d+)/.exec(text)?.[1]);
const codeIn = (text: string): string | undefined => {
  const reply: unknown = JSON.parse(text);
  return isObject(reply) && isObject(reply['error']) ? String(reply['error']['code']) : undefined;
};

/** The effect on each record by itself. */
async function effectsOn(old: string, now: string, records: readonly object[]) {
  const version = (configs: string) => ({ configs, files: diskFiles, env: {} });
  const pair = await openPair(version(old), version(now), systemClock);
  try {
    const reading = readingOf(pair);
    const effects: { change?: EffectChange; done: EffectDone }[] = [];
    for (const record of records) {
      const samples = [sampleOfRecord(record as Readonly<Record<string, unknown>>, reading)];
      let change: EffectChange | undefined;
      for await (const { event, data } of effectOf({ samples, pair, clock: systemClock })) {
        if (event === 'change') change = data;
        if (event === 'done') effects.push({ ...(change && { change }), done: data });
      }
    }
    return effects;
  } finally {
    await pair.close();
  }
}

const namesOf = ({ calls, code }: Way): string =>
  calls.length > 0 ? calls.map(({ target }) => target).join(', then ') : `refused: ${code}`;

/** Fields of the sent bodies that differ, without the model. */
function fieldsThatDiffer(before: Way, after: Way): readonly string[] {
  const pairs = before.calls.map(({ body }, index) => [body, after.calls[index]?.body ?? body] as const);
  return [
    ...new Set(
      pairs.flatMap(([one, other]) =>
        [...new Set([...Object.keys(one), ...Object.keys(other)])].filter(
          (name) => name !== 'model' && JSON.stringify(one[name]) !== JSON.stringify(other[name]),
        ),
      ),
    ),
  ].toSorted();
}

export interface Comparison {
  readonly same: number;
  readonly changed: number;
  readonly unknown: number;
  /** Why, and of how many requests. */
  readonly reasons: ReadonlyMap<string, number>;
  /** Requests of which the effect says otherwise than what happened. */
  readonly disagreements: readonly object[];
}

/** Random settings serve random requests; a change of the settings serves the same requests, with the same draws. */
export async function compare(seed: number, count: number): Promise<Comparison> {
  const dice = new Dice(seed);
  const upstream = await startScripted();
  const before = settingsOf(dice, upstream.url);
  const after = changeOf(before, dice, upstream.url);
  const [old = '', now = ''] = [before, after].map((one) => writeSettings(asTestSettings(one)));
  try {
    const requests = requestsOf(dice, count);
    const [was, is] = [await serve(old, requests, upstream), await serve(now, requests, upstream)];
    const byId = new Map(was.records.map((record) => [(record as { request_id: string }).request_id, record]));
    const effects = await effectsOn(
      old,
      now,
      requests.map(({ id }) => byId.get(id)!),
    );
    const sum = (name: 'same' | 'changed' | 'unknown'): number =>
      effects.reduce((all, { done }) => all + done[name], 0);
    const reasons = new Map<string, number>();
    for (const { done } of effects)
      for (const { reason } of done.reasons) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    const disagreements = requests.flatMap((request, index) => {
      const { change, done } = effects[index]!;
      const met = { was: was.ways[index]!, is: is.ways[index]! };
      const problem = done.unknown > 0 ? undefined : problemOf({ ...met, change });
      if (problem === undefined) return [];
      return [
        { seed, problem, request, was: namesOf(met.was), is: namesOf(met.is), change, record: byId.get(request.id) },
      ];
    });
    return { same: sum('same'), changed: sum('changed'), unknown: sum('unknown'), reasons, disagreements };
  } finally {
    await upstream.close();
    for (const folder of [old, now]) rmSync(folder, { recursive: true, force: true });
  }
}

interface Compared {
  readonly was: Way;
  readonly is: Way;
  readonly change: EffectChange | undefined;
}

/** What the effect says otherwise than what happened. */
function problemOf({ was, is, change }: Compared): string | undefined {
  const moved = namesOf(was) !== namesOf(is);
  const fields = moved ? [] : fieldsThatDiffer(was, is);
  if (!change) return moved ? 'it moved' : fields.length > 0 ? `other fields: ${fields.join()}` : undefined;
  if (change.before.to !== namesOf(was)) return 'it went elsewhere before';
  const said = change.after.targets.map(({ target }) => target);
  if (said.length === 0) return change.after.refused?.code === is.code ? undefined : `refused with ${is.code}`;
  // A target that the record does not know is taken to answer: what follows its failure is not said.
  const real = is.calls.map(({ target }) => target).slice(0, said.length);
  if (!isDeepStrictEqual(real, said)) return 'it goes elsewhere after';
  const told = change.fields.map(({ path }) => path).toSorted();
  return moved || isDeepStrictEqual(told, fields) ? undefined : `fields: ${fields.join()}`;
}
