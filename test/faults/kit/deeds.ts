import type { ServerResponse } from 'node:http';
import type { Answer, Refusal, StreamParts } from './dialects.ts';
import { cut, type Deed, type Visit } from './upstream.ts';

/** Words with characters of two and four bytes, so that there is something to cut in the middle. */
export const PRIMARY: Answer = { words: ['Grüße ', 'vom ', 'ersten 🙂', ' Modell'], usage: { input: 11, output: 7 } };
export const FALLBACK: Answer = {
  words: ['Bonjour ', 'du ', 'deuxième 🙃', ' modèle'],
  usage: { input: 13, output: 5 },
};

export const healthy =
  (answer: Answer): Deed =>
  (visit, res) => {
    if (!visit.stream) return sendJson(res, visit.dialect.plain(answer));
    openStream(res);
    const { head, words, finish, mark } = visit.dialect.stream(answer);
    res.end([...head, ...words, ...finish, ...mark].join(''));
  };

export const refuse =
  (refusal: Refusal | ((visit: Visit) => Refusal), headers: Record<string, string> = {}): Deed =>
  (visit, res) => {
    const said = typeof refusal === 'function' ? refusal(visit) : refusal;
    sendJson(res, visit.dialect.refusal(said), said.status, headers);
  };

export const once =
  (fault: Deed): Deed =>
  (visit, res, turn) =>
    turn === 0 ? fault(visit, res, turn) : healthy(PRIMARY)(visit, res, turn);

export const reset: Deed = (visit, res) => cut(visit, res, 'reset');

export const silence: Deed = () => {};

/** Headers, whatever comes before content, and then nothing. */
export const headOnly: Deed = (visit, res) => {
  openStream(res);
  res.flushHeaders();
  for (const event of partsOf(visit).head) res.write(event);
};

/** Its content comes after this time; of a stream, what comes before content comes at once. */
export const late =
  (ms: number): Deed =>
  async (visit, res, turn) => {
    if (visit.stream) void headOnly(visit, res, turn);
    await new Promise((resolve) => setTimeout(resolve, ms));
    if (!visit.stream) return healthy(PRIMARY)(visit, res, turn);
    const { words, finish, mark } = partsOf(visit);
    res.end([...words, ...finish, ...mark].join(''));
  };

type Pieces = (parts: StreamParts, visit: Visit) => readonly (string | Buffer)[];
/** `ping`: pings are sent for ever. */
type Ending = 'close' | 'reset' | 'end' | 'stall' | 'ping';

/** These bytes of a stream, in one write, and how it ends. */
export const streamOf =
  (pieces: Pieces, ending: Ending): Deed =>
  (visit, res) => {
    openStream(res);
    res.write(bytesOf(pieces, visit), () => finish(visit, res, ending));
  };

/** The same, but what comes last comes when the client has what came first. */
export const brokenStream =
  (first: Pieces, last: Pieces, ending: Ending): Deed =>
  async (visit, res) => {
    openStream(res);
    res.write(bytesOf(first, visit));
    await visit.heard;
    res.write(bytesOf(last, visit), () => finish(visit, res, ending));
  };

const bytesOf = (pieces: Pieces, visit: Visit): Buffer =>
  Buffer.concat(pieces(partsOf(visit), visit).map((piece) => Buffer.from(piece)));

function finish(visit: Visit, res: ServerResponse, ending: Ending): void {
  if (ending === 'end') res.end();
  else if (ending === 'ping') {
    const timer = setInterval(() => res.write(visit.dialect.ping), 20);
    res.on('close', () => clearInterval(timer));
  } else if (ending !== 'stall') setImmediate(() => cut(visit, res, ending));
}

/** A plain body of which only a part comes. */
export const partOfBody =
  (then: 'close' | 'stall'): Deed =>
  (visit, res) => {
    const whole = Buffer.from(JSON.stringify(visit.dialect.plain(PRIMARY)));
    res.writeHead(200, { 'content-type': 'application/json', 'content-length': String(whole.length) });
    res.write(whole.subarray(0, whole.length >> 1), () => {
      if (then === 'close') setImmediate(() => cut(visit, res));
    });
  };

export const html: Deed = (_, res) =>
  void res.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><h1>Just a moment…</h1>');

export const garbledBody: Deed = (visit, res) => {
  const text = JSON.stringify(visit.dialect.plain(PRIMARY));
  res.writeHead(200, { 'content-type': 'application/json' }).end(text.slice(0, -5));
};

export const blocked: Deed = (visit, res) => {
  const { plain, stream } = visit.dialect.blocked;
  if (!visit.stream) return sendJson(res, plain);
  openStream(res);
  res.end(stream.join(''));
};

/** An error where an answer was promised: as the first event, or as the body of a 200. */
export const errorUnder200: Deed = (visit, res) => {
  const refusal = { status: 503, message: 'The model is overloaded.' };
  if (!visit.stream) return sendJson(res, visit.dialect.failure(refusal));
  openStream(res);
  res.end(visit.dialect.errorEvent(refusal));
};

/** Half of the bytes of a word's event, or up to the middle of its four-byte character. */
export function half(event: string, where: 'event' | 'character'): Buffer {
  const bytes = Buffer.from(event);
  const smile = bytes.indexOf('🙂');
  if (where === 'character' && smile < 0) throw new Error('no character to cut');
  return bytes.subarray(0, where === 'character' ? smile + 2 : bytes.length >> 1);
}

const partsOf = (visit: Visit): StreamParts => visit.dialect.stream(PRIMARY);

function openStream(res: ServerResponse): void {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
}

function sendJson(res: ServerResponse, value: object, status = 200, headers: Record<string, string> = {}): void {
  res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}
