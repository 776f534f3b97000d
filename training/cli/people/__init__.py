"""The commands of people who play, train and measure agents.

play      `krypenv play`
table     `krypenv table`
rules     `krypenv rules`
show      `krypenv show`
analyze   `krypenv analyze`
train     `krypenv train`
evaluate  `krypenv evaluate`
arena     `krypenv arena`
score     `krypenv score`
"""
