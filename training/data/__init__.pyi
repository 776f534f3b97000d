from .making import DataSettings as DataSettings, make_data as make_data
from .reading import DataSet as DataSet, load as load
