// SPDX-License-Identifier: Apache-2.0
// An ONNX model of one node, as bytes: o = MultiHeadAttention(q, k, v), tensors [1][n][heads * width]
// of f32. Field numbers are those of onnx.proto (ONNX 1.17); the operator is onnxruntime's own,
// com.microsoft version 1, whose kernel on CPUs is the fused one.
const kInt = 2; // AttributeProto.INT
const kFloat = 1; // TensorProto.FLOAT

const varint = (n) => (n < 128 ? [n] : [(n % 128) + 128, ...varint(Math.floor(n / 128))]);

// Protocol buffers: numbers are varints, all else has its length before it.
function field(number, value) {
  if (typeof value === 'number') return [...varint(8 * number), ...varint(value)];
  const bytes = typeof value === 'string' ? [...new TextEncoder().encode(value)] : value;
  return [...varint(8 * number + 2), ...varint(bytes.length), ...bytes];
}
const message = (...fields) => fields.flatMap(([number, value]) => field(number, value));

const attribute = (name, n) => message([1, name], [3, n], [20, kInt]);
const opset = (domain, version) => message([1, domain], [2, version]);

function tensor(name, extents) {
  const dimensions = extents.map((extent) => [
    1,
    message([typeof extent === 'string' ? 2 : 1, extent]),
  ]);
  const type = message([1, message([1, kFloat], [2, message(...dimensions)])]);
  return message([1, name], [2, type]);
}

export function attentionModel(heads, width, causal) {
  const node = message(
    ...['q', 'k', 'v'].map((name) => [1, name]),
    [2, 'o'],
    [4, 'MultiHeadAttention'],
    [5, attribute('num_heads', heads)],
    [5, attribute('unidirectional', causal ? 1 : 0)],
    [7, 'com.microsoft'],
  );
  const extents = [1, 'n', heads * width];
  const graph = message(
    [1, node],
    [2, 'attention'],
    ...['q', 'k', 'v'].map((name) => [11, tensor(name, extents)]),
    [12, tensor('o', extents)],
  );
  return Uint8Array.from(
    message([1, 9], [7, graph], [8, opset('', 20)], [8, opset('com.microsoft', 1)]),
  );
}
