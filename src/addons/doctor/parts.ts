import type { AddOnParts } from '../../core/process/add-on-parts.ts';
import { checkRetirements } from './check-retirements.ts';
import type { EntryTest, TestStep } from '../../core/process/console-port.ts';

async function* testEntry(test: EntryTest): AsyncIterable<TestStep> {
  const { testEntry: run } = await import('./test-entry.ts');
  yield* run(test);
}

export const parts: AddOnParts = { testEntry, checks: [checkRetirements] };
