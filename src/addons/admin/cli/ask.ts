import { request as requestPlain, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as requestTls } from 'node:https';
import { messageOf } from '../../../core/kernel/outside/thrown.ts';

/** Time for an answer. The audit of years is checked row by row. */
const LIMIT_MS = 15 * 60_000;

export class Unanswered extends Error {}

export interface AdminReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly pieces: AsyncIterable<string>;
  text(): Promise<string>;
}

interface Question {
  readonly method: string;
  readonly token: string | undefined;
  readonly body: object | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/** One call of the admin API. A redirect is an answer like any other: a token goes to the address of the command line only. */
export function ask(url: string, { method, token, body, headers }: Question): Promise<AdminReply> {
  const bytes = body && Buffer.from(JSON.stringify(body));
  const all = {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(bytes && { 'content-type': 'application/json', 'content-length': String(bytes.length) }),
    ...headers,
  };
  const request = url.startsWith('https:') ? requestTls : requestPlain;
  const failed = (error: unknown): Unanswered =>
    new Unanswered(`${new URL(url).origin} does not answer: ${messageOf(error)}`);
  return new Promise((resolve, reject) => {
    request(url, { method, headers: all, signal: AbortSignal.timeout(LIMIT_MS) }, (message) =>
      resolve(replyOf(message, failed)),
    )
      .once('error', (error) => reject(failed(error)))
      .end(bytes);
  });
}

function replyOf(message: IncomingMessage, failed: (error: unknown) => Unanswered): AdminReply {
  async function* pieces(): AsyncIterable<string> {
    try {
      // The encoding makes texts of the bytes.
      for await (const piece of message.setEncoding('utf8') as AsyncIterable<string>) yield piece;
    } catch (error) {
      throw failed(error);
    }
  }
  const all = pieces();
  return {
    status: message.statusCode ?? 0,
    headers: message.headers,
    pieces: all,
    async text() {
      let text = '';
      for await (const piece of all) text += piece;
      return text;
    },
  };
}
