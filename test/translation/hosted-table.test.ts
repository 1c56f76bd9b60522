import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ROWS } from '../../src/core/catalog/model-table/table.generated.ts';
import { draws } from '../../src/formats/gemini/image-tool.ts';
import {
  GEMINI_TOOL_COLUMNS,
  MESSAGES_TOOL_COLUMNS,
  observeRows,
  RESPONSES_TOOL_COLUMNS,
  type Column,
} from './field-table.ts';
import type { Probe } from './field-probes.ts';
import { GEMINI_TOOLS, MESSAGES_TOOLS, RESPONSES_TOOLS } from './hosted-probes.ts';
import { regenerateTools } from './hosted-table.ts';

describe('the tables of hosted tools', () => {
  it('of the Responses API equal the one in the page', async () => {
    // Anew with `node test/translation/hosted-table.ts`.
    const { file, text } = await regenerateTools();
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it.each<[string, readonly Probe[], readonly Column[]]>([
    ['the Responses API', RESPONSES_TOOLS, RESPONSES_TOOL_COLUMNS],
    ['the Messages API', MESSAGES_TOOLS, MESSAGES_TOOL_COLUMNS],
    ['Gemini', GEMINI_TOOLS, GEMINI_TOOL_COLUMNS],
  ])('of %s have a rule for each tool at each target: it is sent, lost or refused', async (_, probes, columns) => {
    for (const { field, cells } of await observeRows(probes, columns)) {
      for (const cell of cells) {
        expect(cell, field).toMatch(/kept|→|lost|refused/);
        expect(cell, field).not.toContain('omitted');
      }
    }
  });

  it('of the Responses API refuse computer use at each other target, and no other tool as a whole', async () => {
    const rows = await observeRows(RESPONSES_TOOLS, RESPONSES_TOOL_COLUMNS);
    const refused = rows.filter(({ cells }) => cells.slice(1).includes('refused'));
    expect(refused.map(({ field, cells }) => [field, ...cells.slice(1)])).toEqual([
      ['computer', 'refused', 'refused', 'refused'],
      ['computer_use_preview', 'refused', 'refused', 'refused'],
    ]);
  });

  it('say of each Gemini model that makes pictures that it draws', () => {
    const names = ROWS.flatMap(([providers, models, , , , capabilities]) =>
      /google|vertex/.test(providers) && capabilities.includes('image_out') ? models.split(' ') : [],
    ).filter((model) => model.startsWith('gemini-'));
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((model) => !draws({ model, host: 'vertex' }))).toEqual([]);
  });
});
