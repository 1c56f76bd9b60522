import { randomBytes } from 'node:crypto';
import type { PartTools, ProcessPart } from '../../core/process/process-part.ts';
import { SharedEngine } from './engine/engine.ts';
import { SharedLimits } from './limits/shared-limits.ts';
import { sharedFamilies } from './engine/metrics.ts';
import { Sealer } from './sealer.ts';
import { addressIn, sharedOf } from './settings/shared.ts';
import { SharedHealth } from './shared-health.ts';
import { SharedReplies } from './shared-replies.ts';
import { SharedValues } from './shared-values.ts';

/** State that this process shares with those of other gateways. The primary of workers serves no requests, and shares nothing. */
export function openShared({ clock, log, metrics, role, settings }: PartTools): ProcessPart {
  const shared = role === 'primary' ? undefined : sharedOf(settings.server);
  const address = shared && addressIn(shared.url);
  if (!shared || !address) return {};
  const families = sharedFamilies(metrics);
  const engine = new SharedEngine({ address, clock, log, families });
  const { prefix, encryptionKeys } = shared;
  const sealer = new Sealer(encryptionKeys);
  const process = randomBytes(8).toString('hex');
  const onMembers = (members: number): void => families.sharedMembers.set({}, members);
  const limits = new SharedLimits({ engine, clock, process, prefix, onMembers });
  return {
    fleetMemory: {
      limits,
      replies: new SharedReplies({ engine, sealer, prefix, clock, families }),
      values: new SharedValues({ engine, sealer, prefix }),
      health: new SharedHealth({ engine, prefix, process }),
    },
    async begin() {
      await engine.start();
      limits.start();
    },
    async stop() {
      await limits.stop();
      engine.stop();
    },
  };
}
