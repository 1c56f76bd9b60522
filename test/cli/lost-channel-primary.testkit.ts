import { execSync } from 'node:child_process';
import cluster from 'node:cluster';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { Connections } from '../../src/addons/workers/connections.ts';

/**
 * A primary that learns of its only worker's death before it has read all that the worker said, while one connection is on its way
 * to it and others wait. Prints what becomes of them; ends when nothing is left open.
 */
const CLIENTS = 5;
const exec = packageFile('test/cli/lost-channel-worker.testkit.ts');
cluster.setupPrimary({ exec, args: [], serialization: 'advanced' });
const connections = new Connections();
const worker = cluster.fork();
connections.follow(worker);
worker.on('error', () => {}).on('message', () => {});
worker.once('exit', () => process.stdout.write(worker.isConnected() ? 'exit before the channel ended\n' : 'exit\n'));
const [{ port }] = (await once(worker, 'listening')) as [{ port: number }];

worker.send('go');
await sleep(100);
const closed = Promise.all(Array.from({ length: CLIENTS }, () => closes(() => {})));
await sleep(200);
// The primary stands still while the worker speaks and dies.
execSync(`sleep 0.6; kill -9 ${worker.process.pid}; sleep 0.2`);
await closed;
process.stdout.write('all clients closed\n');
await closes((error) => void process.stdout.write(`then ${error.code}\n`));

function closes(onError: (error: NodeJS.ErrnoException) => void): Promise<void> {
  return new Promise((resolve) => {
    connect(port, '127.0.0.1')
      .on('error', onError)
      .on('close', () => resolve());
  });
}
