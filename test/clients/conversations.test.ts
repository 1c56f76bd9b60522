import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { oneInFour } from '../support/effort.ts';
import { SCENARIOS } from './cells.ts';
import { DRIVERS } from './drivers/index.ts';
import { faultOf } from './faults.ts';
import { startMatrix, UPSTREAMS, type Matrix } from './matrix.ts';

/** Every client on every upstream: each upstream is as strict as its vendor's, and answers by what it was sent. */

let matrix: Matrix;
beforeAll(async () => {
  matrix = await startMatrix();
});
afterAll(() => matrix.close());

describe.each(DRIVERS)('$name', (driver) => {
  describe.each(UPSTREAMS)('asks $name', (upstream) => {
    const row = UPSTREAMS.indexOf(upstream) + DRIVERS.indexOf(driver);
    const cells = oneInFour('clients', row, SCENARIOS).map((scenario) => ({
      ...scenario,
      fault: faultOf(driver, upstream, scenario.name),
    }));

    it.each(cells.filter(({ fault }) => !fault))('$name', async ({ wish, expected }) => {
      const outcome = await driver.converse(matrix, { ...wish, model: upstream.model });
      expect(outcome).toMatchObject(expected(driver, upstream));
    });

    it.fails.each(cells.filter(({ fault }) => fault))('$name: $fault', async ({ wish, expected }) => {
      const outcome = await driver.converse(matrix, { ...wish, model: upstream.model });
      expect(outcome).toMatchObject(expected(driver, upstream));
    });
  });
});
