import pytest
import tensorflow as tf

from data_pipeline.records import FEATURES, encode_example, frame

# Two CPU devices, so that MirroredStrategy has two replicas; must come before TensorFlow's
# first use of a device.
(_CPU,) = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(_CPU, [tf.config.LogicalDeviceConfiguration()] * 2)


@pytest.fixture(scope="session")
def pairs_folder(tmp_path_factory):
    """Pairs that can be learned: the response to "question N" says N in words of its own."""
    folder = tmp_path_factory.mktemp("pairs")
    for side, numbers in (("train", range(400)), ("test", range(64))):
        frames = []
        for number in numbers:
            topic = number % 64
            pair = dict.fromkeys(FEATURES, "")
            pair |= {"input": f"question{topic} number {number}", "response": f"answer{topic}"}
            frames.append(frame(encode_example(pair)))
        for shard in range(2):
            name = f"{side}-{shard:05d}-of-00002.tfrecord"
            (folder / name).write_bytes(b"".join(frames[shard::2]))
    return folder
