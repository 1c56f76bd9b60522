/** The mock of streams: port 9002 sends all events in one write, port 9003 each in a write of its own. */
import { createServer, type ServerResponse } from 'node:http';
import { STREAMS } from './replies.ts';

const whole = new Map(Object.values(STREAMS).map((events) => [events, Buffer.concat(events)]));

function streamFor(url: string): readonly Buffer[] {
  if (/messages$|rawPredict/i.test(url)) return STREAMS.anthropic;
  return /generateContent/i.test(url) ? STREAMS.gemini : STREAMS.openai;
}

function writeEach(res: ServerResponse, events: readonly Buffer[], next = 0): void {
  if (res.destroyed) return;
  if (next === events.length) return void res.end();
  res.write(events[next]);
  setImmediate(writeEach, res, events, next + 1);
}

for (const port of [9002, 9003]) {
  const server = createServer((req, res) => {
    req.resume();
    req.on('end', () => {
      const events = streamFor(req.url!);
      res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
      if (port === 9002) res.end(whole.get(events));
      else writeEach(res, events);
    });
  });
  server.keepAliveTimeout = 600_000;
  server.listen({ port, host: '127.0.0.1', backlog: 4096 });
}
