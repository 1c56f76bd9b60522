import { createServer, type ServerResponse } from 'node:http';
import { Pool, type Dispatcher } from 'undici';

/** The yardstick: node:http in, undici dispatch out, bytes as they come, nothing else. Prints its port. */
const pool = new Pool(process.argv[2]!, { connections: 256, pipelining: 1 });

class Pipe implements Dispatcher.DispatchHandler {
  readonly #res: ServerResponse;
  #controller: Dispatcher.DispatchController | undefined;

  constructor(res: ServerResponse) {
    this.#res = res;
    res.on('drain', () => this.#controller?.resume());
    res.on('close', () => {
      if (!res.writableFinished) this.#controller?.abort(new Error('client left'));
    });
  }
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
  }
  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    const { connection: _connection, 'keep-alive': _keepAlive, 'transfer-encoding': _encoding, ...kept } = headers;
    this.#res.writeHead(status, kept);
  }
  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (!this.#res.write(piece)) controller.pause();
  }
  onResponseEnd(): void {
    this.#res.end();
  }
  onResponseError(): void {
    this.#res.destroy();
  }
}

const server = createServer((req, res) => {
  const pieces: Buffer[] = [];
  req.on('data', (piece: Buffer) => pieces.push(piece));
  req.on('end', () => {
    pool.dispatch(
      { path: req.url!, method: 'POST', headers: { 'content-type': 'application/json' }, body: Buffer.concat(pieces) },
      new Pipe(res),
    );
  });
});
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: (server.address() as { port: number }).port })));
