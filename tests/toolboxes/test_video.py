"""Gymnasium's wrapper records games as videos."""

import gymnasium
import numpy as np
from gymnasium.wrappers import RecordVideo
from moviepy import VideoFileClip


def test_gymnasium_records_a_video(tmp_path):
    env = RecordVideo(gymnasium.make("Mulle-v0", render_mode="rgb_array"), str(tmp_path))
    _, info = env.reset(seed=1)
    is_over, steps = False, 1
    while not is_over:
        _, _, is_over, _, info = env.step(int(info["action_mask"].argmax()))
        steps += 1
    env.close()
    [path] = tmp_path.glob("*.mp4")
    with VideoFileClip(str(path)) as clip:
        assert clip.fps == env.metadata["render_fps"]
        assert abs(clip.duration * clip.fps - steps) <= 1
        first, last = clip.get_frame(0), clip.get_frame(clip.duration - 1 / clip.fps)
    assert first.shape == (720, 960, 3)
    assert np.mean(first != last) > 0.01
