import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LossReport } from '../../../../formats/losses/losses.ts';
import { geminiImageModel } from '../../../../formats/gemini/image-models.ts';
import { shapeOf } from '../../../../formats/media/image-shape.ts';
import { imagenModel } from './imagen.ts';
import { faultOf } from './images.testkit.ts';

const imagen3 = imagenModel('imagen-3.0-generate-002');
const imagen4 = imagenModel('imagen-4.0-generate-001');
const gemini25 = geminiImageModel('gemini-2.5-flash-image');
const gemini3 = geminiImageModel('gemini-3-pro-image-preview');

describe('the shape that stands for a size', () => {
  it.each([
    ['auto', imagen3, {}, 0],
    ['1024x1024', imagen3, { aspectRatio: '1:1' }, 0],
    ['256x256', imagen3, { aspectRatio: '1:1' }, 1],
    ['512x512', imagen3, { aspectRatio: '1:1' }, 1],
    ['1536x1024', imagen3, { aspectRatio: '4:3' }, 1],
    ['1024x1536', imagen3, { aspectRatio: '3:4' }, 1],
    ['1792x1024', imagen3, { aspectRatio: '16:9' }, 1],
    ['1024x1792', imagen3, { aspectRatio: '9:16' }, 1],
    ['2048x2048', imagen3, { aspectRatio: '1:1' }, 1],
    ['2048x2048', imagen4, { aspectRatio: '1:1', imageSize: '2K' }, 0],
    ['4096x4096', imagen4, { aspectRatio: '1:1', imageSize: '2K' }, 1],
    ['1536x1024', gemini25, { aspectRatio: '3:2' }, 1],
    ['1024x1536', gemini25, { aspectRatio: '2:3' }, 1],
    ['1792x1024', gemini25, { aspectRatio: '16:9' }, 1],
    ['2520x1080', gemini25, { aspectRatio: '21:9' }, 1],
    ['4096x4096', gemini3, { aspectRatio: '1:1', imageSize: '4K' }, 0],
    ['3840x2160', gemini3, { aspectRatio: '16:9', imageSize: '2K' }, 1],
  ])('%s', (size, model, shape, lost) => {
    const losses = new LossReport();
    expect(shapeOf(size, model, losses)).toEqual(shape);
    expect(losses.list().map(({ action, param }) => [action, param])).toEqual(
      Array.from({ length: lost }, () => ['downgraded', 'size']),
    );
  });

  it.each(['', 'big', '1024', '1024x', '0x0', '1024x0', '1024X1024', '-1x5', '1e3x5', '999999x1'])(
    'is refused for the invalid size %j',
    (size) => {
      expect(faultOf(() => shapeOf(size, imagen3, new LossReport()))).toMatchObject({
        code: 'invalid_value',
        param: 'size',
      });
    },
  );

  it('is one of the model’s, in the orientation of the size', () => {
    const side = fc.integer({ min: 1, max: 99_999 });
    fc.assert(
      fc.property(side, side, fc.constantFrom(imagen3, imagen4, gemini25, gemini3), (width, height, model) => {
        const { aspectRatio } = shapeOf(`${width}x${height}`, model, new LossReport());
        expect(model.ratios).toContain(aspectRatio);
        const [across = 0, down = 0] = aspectRatio!.split(':').map(Number);
        expect(Math.sign(across - down) * Math.sign(width - height)).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});
