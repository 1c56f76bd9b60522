import type { ServerFile } from '../../../schemas/types.generated.ts';
import type { ExamineTools } from '../../core/process/add-on-parts.ts';
import { error, ok, warning, type Finding } from '../../core/process/finding.ts';
import { messageOf } from '../../core/kernel/outside/thrown.ts';
import { connectClient } from './engine/client.ts';
import { within } from './engine/within.ts';
import { addressIn, sharedOf } from './settings/shared.ts';

/** Longer answers than this are none for a gateway. */
const COMMAND_MS = 100;

/** A finding on the server of `state.shared`. Never rejects. */
export async function examineShared(
  server: ServerFile,
  { clock, timeoutMs }: ExamineTools,
): Promise<readonly Finding[]> {
  const shared = sharedOf(server);
  const address = shared && addressIn(shared.url);
  if (!address) return [];
  const check = shared.type === 'redis' ? 'Redis' : 'Valkey';
  const name = `${address.host}:${address.port}`;
  try {
    const client = await connectClient(address, { clock, limitMs: timeoutMs, onLost: () => {} });
    try {
      const began = clock.now();
      await within(client.send(['PING'], false), timeoutMs, clock);
      const ms = Math.round(clock.now() - began);
      const tls = address.tls ? 'over TLS' : 'without TLS';
      if (ms > COMMAND_MS)
        return [
          warning(check, `${name} answers after ${ms} ms: a gateway waits ${COMMAND_MS} ms, and then it is away`),
        ];
      return [ok(check, `${name} answers after ${ms} ms, ${tls}`)];
    } finally {
      client.destroy();
    }
  } catch (failure) {
    return [error(check, `${name}: ${messageOf(failure)}`)];
  }
}
